"""Makes the root of one version of asz that the tests of this folder upgrade.

    python tests/upgrade/making.py ASZ

``ASZ`` is the command of an installed asz. What it wrote becomes ``roots/<its version>.tar.gz``, sources
beside the root. Whoever changes a schema, a format or a rule of assembly runs it once with the asz of the
change; files of earlier versions are never made again.
"""

import http.server
import json
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import urllib.request
from pathlib import Path

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

HERE = Path(__file__).parent
ROOTS = HERE / "roots"
SAMPLE = HERE.parents[1] / "adapters" / "claude_code" / "asz_claude_code" / "sample" / "projects"
ENDPOINT_PORT = 41733
"""Sent-state is kept by address, so whoever goes on with the root must listen here."""
LISTEN_PORT = 41734

DIRECTORY = "-home-sam-projects-harbor"
REWRITTEN = "0c0ffee0-1111-4222-8333-444444444444"
GONE = "0c0ffee0-5555-4666-8777-888888888888"
REFUSED = "0c0ffee0-9999-4aaa-8bbb-cccccccccccc"
"""Its only landed file is larger than the endpoint takes."""


def prompt(session: str, number: int, text: str) -> str:
    """One line a person typed."""
    return json.dumps(
        {
            "type": "user",
            "uuid": f"{number:08d}-{session[9:]}",
            "parentUuid": None,
            "promptId": f"p{number}",
            "origin": {"kind": "human"},
            "sessionId": session,
            "version": "2.1.251",
            "cwd": "/home/sam/projects/harbor",
            "timestamp": f"2026-09-02T10:{number:02d}:00.000Z",
            "message": {"role": "user", "content": text},
        },
        separators=(",", ":"),
    )


class Endpoint(http.server.ThreadingHTTPServer):
    """Where what was collected is pushed to: takes requests of up to 300 kB."""

    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", ENDPOINT_PORT), _Answer)
        self.requests = 0

    def __enter__(self) -> "Endpoint":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.shutdown()
        self.server_close()


class _Answer(http.server.BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        self.server.requests += 1
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(413 if len(body) > 300_000 else 200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Nothing."""


def configure(home: Path, **adapters: bool) -> None:
    """``asz.yaml`` with metrics on for one of the two adapters that count."""
    derived = not adapters.get("received", False)
    entry = f"source_root: {home}/projects, exclude: [], metrics_lookback: 9999d"
    (home / "asz.yaml").write_text(
        "adapters:\n"
        f"  - {{name: claude-code, {entry}, metrics: {str(derived).lower()}}}\n"
        f"  - {{name: claude-code-changes, source_root: {home}/changes}}\n"
        f"  - {{name: claude-code-otlp, enabled: {str(not derived).lower()}, "
        f'listen: "127.0.0.1:{LISTEN_PORT}"}}\n'
        f"export: {{otlp: {{protocol: http, endpoint: 'http://127.0.0.1:{ENDPOINT_PORT}'}}}}\n"
    )


def receive(asz: list[str], home: Path) -> None:
    """Let a watching asz receive one request of metrics."""
    configure(home, received=True)
    command = [*asz, "-v", "collect", "--adapter", "claude-code-otlp"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stderr is not None
        assert any("receiving" in line for line in watching.stderr)
        request = ExportMetricsServiceRequest()
        metric = request.resource_metrics.add().scope_metrics.add().metrics.add()
        metric.name = "claude_code.session.count"
        metric.sum.data_points.add(as_double=1)
        urllib.request.urlopen(
            urllib.request.Request(
                f"http://127.0.0.1:{LISTEN_PORT}/v1/metrics",
                request.SerializeToString(),
                {"content-type": "application/x-protobuf"},
            )
        ).read()
        watching.send_signal(signal.SIGTERM)
    configure(home)


def make(command: str, home: Path) -> None:
    """Everything a root can hold: chains, a conflict, a source that is gone, metrics derived and received,
    files that were sent and one that was refused."""
    asz = [command, "--config", str(home / "asz.yaml"), "--root", str(home / "root")]
    own = home / "projects" / DIRECTORY
    shutil.copytree(SAMPLE, home / "projects")
    own.mkdir()
    (home / "changes").mkdir()
    for session in (REWRITTEN, GONE):
        lines = [prompt(session, number, f"Prompt {number}") for number in range(1, 4)]
        (own / f"{session}.jsonl").write_text("\n".join(lines) + "\n")
    (own / f"{REFUSED}.jsonl").write_text(prompt(REFUSED, 1, "long " * 100_000) + "\n")
    configure(home)
    with Endpoint():
        subprocess.run([*asz, "collect", "--once"], check=False)
        receive(asz, home)
        (own / f"{GONE}.jsonl").unlink()
        (own / f"{REWRITTEN}.jsonl").write_text(prompt(REWRITTEN, 9, "Rewritten") + "\n")
        subprocess.run([*asz, "collect", "--once"], check=False)


def main() -> None:
    """Make the root and pack it."""
    command = sys.argv[1]
    printed = subprocess.run([command, "version"], check=True, capture_output=True, text=True)
    version = printed.stdout.split()[1]
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        make(command, home)
        with tarfile.open(ROOTS / f"{version}.tar.gz", "w:gz") as packed:
            for name in ("projects", "changes", "root"):
                packed.add(home / name, name)


if __name__ == "__main__":
    main()
