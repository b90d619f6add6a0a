"""The mechanism of rewriting: facts about nodes, patterns, rules, engine, trace; the rules are in `symgrad.rules`."""
