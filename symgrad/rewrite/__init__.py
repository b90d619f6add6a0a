"""The mechanism of rewriting: facts about nodes, patterns, rules, the engine, the trace. It knows no rules; those are in `symgrad.rules`."""
