"""A server tells its parent when it answers, so that its address is not printed before."""

from __future__ import annotations

import os
import select
import socket
import threading
from typing import Any

import httpx
import uvicorn

from kohorte.service.processes.server_process import Server


def test_a_server_tells_that_it_is_ready_once_it_has_started_and_not_before() -> None:
    may_start, seen_before = threading.Event(), []
    news, tells = os.pipe()

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            may_start.wait(30)
            seen_before.append(bool(select.select([news], (), (), 0)[0]))
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    server = Server(uvicorn.Config(app, log_config=None), tell_ready=tells)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        may_start.set()
        assert os.read(news, 1) == b"!"
        assert seen_before == [False]
        assert httpx.get(f"http://127.0.0.1:{listening.getsockname()[1]}/").status_code == 204
        server.should_exit = True
        thread.join(30)
    os.close(news)
