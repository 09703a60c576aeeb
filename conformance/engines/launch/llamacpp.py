"""Starts llama.cpp's own HTTP server, which xllamacpp provides only through Python.

    python llamacpp.py MODEL.gguf PORT NAME

It runs in the engine's environment and imports nothing of this project.
"""

import sys
import threading

import xllamacpp


def main(model: str, port: str, name: str) -> None:
    """Serve the model under a name, on loopback only, until the process ends."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(port)
    parameters.n_ctx = 8192
    # Requests one at a time give the same tokens every time.
    parameters.n_parallel = 1
    # For such a small model, more threads would mostly wait for each other.
    parameters.cpuparams.n_threads = 1
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.use_jinja = True
    server = xllamacpp.Server(parameters)
    print(f"listening on {server.listening_address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
