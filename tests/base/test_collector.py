"""collector: full collections leave out what was loaded, and what becomes garbage before `settle` is freed."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc, weakref
from shadow_gnn.base import collector

class Node:
    def __init__(self):
        self.itself = self

collector.pause()
assert not gc.isenabled()
garbage, kept = weakref.ref(Node()), Node()
collector.settle()
assert gc.isenabled() and garbage() is None
assert gc.get_freeze_count() > 1000
assert not any(found is kept for found in gc.get_objects())

later = weakref.ref(kept)
del kept
gc.collect()
assert later() is not None
collector.settle()
assert later() is None
"""


def test_settled_objects_are_left_out_until_the_next_time():
    subprocess.run([sys.executable, "-c", CODE], check=True)


def test_a_service_settles_before_it_answers_and_after_a_reload():
    code = """
import signal, socket, threading, gc
from types import SimpleNamespace
from fastapi import FastAPI
from shadow_gnn.base import collector
from shadow_gnn.serve import server
settled = []
collector.settle = lambda: settled.append(True)
server.create_app = lambda *_, **__: FastAPI()
service = SimpleNamespace(reload_listeners=[])
ending = threading.Event()
ending.set()
opened = socket.create_server(("127.0.0.1", 0))
server.run_server(service, opened, None, lambda: settled.append("started"), ending=ending)
assert settled == [True, "started"], settled
assert service.reload_listeners == [collector.settle]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
