"""The client of the lab over aiohttp: it takes the orders open, get and shutdown."""
import asyncio
import json
import ssl
import sys
import time

import aiohttp


def report(**line):
    print(json.dumps(line), flush=True)


async def get(session, id, method, url):
    begin = time.monotonic()
    line = {}
    try:
        async with session.request(method, url) as response:
            line = {"status": response.status, "bytes": len(await response.read())}
    except Exception as error:
        line = {"error": type(error).__name__}
    report(finished=id)
    report(ended=id, ms=int((time.monotonic() - begin) * 1000), attempts=1, **line)


async def main():
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    session, running = None, set()
    while line := await reader.readline():
        order = json.loads(line)
        verb, settings = order["verb"], order.get("settings", {})
        if verb == "open":
            context = ssl.create_default_context(cafile=settings.get("authorities"))
            connector = aiohttp.TCPConnector(limit_per_host=settings.get("connections", 0), ssl=context)
            session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=settings["idle"]))
        elif verb == "get":
            for index in range(order["count"]):
                id = order["id"] if order["count"] == 1 else f"{order['id']}.{index}"
                task = asyncio.create_task(get(session, id, order.get("method", "GET"), order["url"]))
                running.add(task)
                task.add_done_callback(running.discard)
        elif verb == "shutdown":
            await session.close()
            report(closed=order["id"])


asyncio.run(main())
