"""A stand-in for the Hugging Face Hub on this machine: repositories in memory, as far as pushing and loading needs."""

import base64
import json
import threading
from contextlib import contextmanager
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "hf_stand_in"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer(401, {"error": "Invalid credentials"})
        self.server.asked.append(self.path)
        if self.path == "/api/repos/create":
            given = json.loads(body)
            name = f"{given.get('organization') or 'me'}/{given['name']}"
            self.server.files.setdefault(name, {})
            self.server.private[name] = given.get("private", False) or given.get("visibility") == "private"
            return self._answer(200, {"url": f"{self.server.address}/{name}", "name": name})
        if self.path == "/api/validate-yaml":
            return self._answer(200, {"errors": [], "warnings": []})
        name = "/".join(self.path.split("/")[3:5])
        if "/preupload/" in self.path:
            files = json.loads(body)["files"]
            kinds = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in files]
            return self._answer(200, {"files": kinds})
        for line in body.splitlines():
            entry = json.loads(line)
            if entry["key"] == "file":
                self.server.files[name][entry["value"]["path"]] = base64.b64decode(entry["value"]["content"])
        return self._answer(200, {"commitUrl": f"{self.server.address}/{name}/commit/{COMMIT}", "commitOid": COMMIT})

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parts = self.path.split("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            name = "/".join(parts[2:4])
            if name not in self.server.files:
                return self._answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            files = [
                {"type": "file", "oid": sha1(data).hexdigest(), "path": path, "size": len(data), "rfilename": path}
                for path, data in self.server.files[name].items()
            ]
            if "tree" in parts:
                return self._answer(200, files)
            return self._answer(200, {"id": name, "sha": COMMIT, "private": False, "siblings": files})
        name, path = "/".join(parts[:2]), "/".join(parts[4:])
        data = self.server.files.get(name, {}).get(path)
        if data is None:
            return self._answer(404, {"error": "no such file"}, {"X-Error-Code": "EntryNotFound"})
        self.send_response(200)
        self.send_header("ETag", f'"{sha1(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
        return None

    def _answer(self, code, content, headers=()):
        data = json.dumps(content).encode()
        self.send_response(code)
        for key, value in dict(headers).items():
            self.send_header(key, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def hub_stand_in():
    """Give a server with `address`, `files` and `private` by repository, and `asked`, the paths of all posts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.address = f"http://127.0.0.1:{server.server_port}"
    server.files, server.private, server.asked = {}, {}, []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
