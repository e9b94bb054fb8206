"""The driver contract, its contract suite, and the drivers that operate sandboxes."""
