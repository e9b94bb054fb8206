"""The gRPC face of execd: messages become domain values here and nowhere else."""
