"""The guest inside every sandbox: processes, terminals, files. Holds no control-plane credential."""
