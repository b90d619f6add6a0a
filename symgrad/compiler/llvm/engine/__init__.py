"""Text to machine code: llvmlite, processors, what is kept on disk, and what other libraries have."""
