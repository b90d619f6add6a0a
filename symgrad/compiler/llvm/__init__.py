"""From a schedule to machine code; the only folder that knows llvmlite."""
