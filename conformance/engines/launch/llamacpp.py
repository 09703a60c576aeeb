"""Starts llama.cpp's own HTTP server, which xllamacpp offers only through Python.

    python llamacpp.py MODEL.gguf PORT NAME

It runs in the engine's environment and imports nothing of this project.
"""

import sys
import threading

import xllamacpp


def main(model: str, port: str, name: str) -> None:
    """Serve the model on loopback under a name until the process ends."""
    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.model_alias = {name}
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = int(port)
    wanted.n_ctx = 8192
    # One request at a time gives the same tokens every time.
    wanted.n_parallel = 1
    # More would wait for each other longer than they count, for a model this small.
    wanted.cpuparams.n_threads = 1
    wanted.n_gpu_layers = 0
    wanted.warmup = False
    wanted.use_jinja = True
    server = xllamacpp.Server(wanted)
    print(f"listens on {server.listening_address}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
