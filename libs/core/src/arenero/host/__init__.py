"""What runs a service: tasks that nobody forgets, an orderly start and stop, exit codes with a meaning.

`tasks` starts and ends tasks, `service` is the body of every `__main__`, `config` the settings that all services share.
"""
