"""Wire forms of the model: what is stored in the log and spoken by the API, made and read here and nowhere else."""
