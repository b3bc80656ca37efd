"""``asz push`` until it is stopped."""

import json
import signal
import subprocess
import sys

from ..support.landed import Landing
from ..support.otlp import grpc_receiver
from ..support.pushing import Place
from ..support.sessions import prompt


def test_a_watching_push_sends_what_comes_and_ends_on_a_signal(place: Place) -> None:
    config = place.home / "asz.yaml"
    with grpc_receiver() as listening:
        otlp = {"endpoint": listening.endpoint}
        settings = {"export": {"otlp": otlp}, "collector": {"interval": "1s"}}
        config.write_text(json.dumps(settings))
        asz = [sys.executable, "-m", "asz", "push", "--config", str(config)]
        process = subprocess.Popen(
            [*asz, "--root", str(place.root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert " metrics=3 " in process.stdout.readline()
        late = Landing(place.root, "late").write([prompt("u1")])
        while " files=1 " not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _out, err = process.communicate()
        assert (process.returncode, err.strip()) == (130, "")
        assert listening.inbox.paths()[-1] == late.relative_to(place.root).as_posix()
        assert sorted(listening.inbox.paths()) == place.files()
