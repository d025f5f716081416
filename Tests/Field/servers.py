"""The servers of the lab: HTTP/1.1 with and without TLS, and DNS; the standard library of Python only.

    servers.py http PORT [--tls CERTIFICATE KEY] [--files FOLDER] [--log FILE]
    servers.py dns silent|slow|fails|truncates ADDRESS LOG

| path | answer |
| --- | --- |
| `/size/N` | N bytes |
| `/after/S` | one byte, after S seconds |
| `/silent` | none; the connection stays open |
| `/files/NAME?rate=N` | the file, N bytes a second; takes ranges, and has an `ETag` |
| `/sum?rate=N` | the SHA-256 of the request's body, which is read at N bytes a second |
| `/echo` | the request's body, which comes in chunks, as it arrives |
| `/cached/N` | N bytes that may be stored for an hour |
| `/odd` | a redirect to `/t/a b%20c` |
| others | the path, to the letter |
"""
import asyncio
import hashlib
import os
import socket
import ssl
import struct
import sys


class HTTPServer:
    def __init__(self, files=None, log=None):
        self.files = files
        self.log = open(log, "a", buffering=1) if log else None

    def note(self, text):
        if self.log:
            self.log.write(text + "\n")

    async def serve(self, reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.note("connection")
        try:
            while await self.exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, ValueError, ssl.SSLError) as error:
            self.note(f"lost {error!r}")
        writer.close()

    async def exchange(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        path, _, query = target.partition("?")
        rate = int(query[5:]) if query.startswith("rate=") else 0
        if fields.get("expect"):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if path == "/echo":
            return await self.echo(reader, writer)
        digest = await self.read_body(reader, fields, rate)
        self.note(f"{method} {target} {fields.get('range', '-')}")
        first, _, rest = path[1:].partition("/")
        if first == "size":
            await self.answer(writer, b"x" * int(rest))
        elif first == "cached":
            await self.answer(writer, b"x" * int(rest), ["Cache-Control: max-age=3600"])
        elif first == "after":
            await asyncio.sleep(float(rest))
            await self.answer(writer, b"x")
        elif first == "silent":
            await reader.read()
            return False
        elif first == "files":
            await self.send_file(writer, os.path.join(self.files, rest), fields, rate)
        elif first == "sum":
            await self.answer(writer, digest.encode())
            self.note(f"sum {digest}")
        elif first == "odd":
            await self.answer(writer, b"", ["Location: /t/a b%20c"], "302 Found")
        else:
            await self.answer(writer, target.encode())
        return True

    async def read_body(self, reader, fields, rate):
        digest = hashlib.sha256()

        async def take(count):
            while count:
                piece = await reader.read(min(count, 1 << 16))
                if not piece:
                    raise asyncio.IncompleteReadError(b"", count)
                digest.update(piece)
                count -= len(piece)
                if rate:
                    await asyncio.sleep(len(piece) / rate)

        if fields.get("transfer-encoding"):
            while size := int((await reader.readline()).split(b";")[0], 16):
                await take(size)
                await reader.readline()
            await reader.readline()
        else:
            await take(int(fields.get("content-length", 0)))
        return digest.hexdigest()

    async def echo(self, reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while size := int(await reader.readline(), 16):
            writer.write(b"%x\r\n" % size)
            while size:
                piece = await reader.read(min(size, 1 << 16))
                if not piece:
                    raise asyncio.IncompleteReadError(b"", size)
                writer.write(piece)
                await writer.drain()
                size -= len(piece)
            writer.write(await reader.readline())
        writer.write(b"0\r\n" + await reader.readline())
        await writer.drain()
        return True

    async def answer(self, writer, body, fields=(), status="200 OK"):
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
        writer.write("\r\n".join([*head, "", ""]).encode("latin-1") + body)
        await writer.drain()

    async def send_file(self, writer, path, fields, rate):
        with open(path, "rb") as file:
            data = file.read()
        tag = '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
        start, status = 0, "200 OK"
        more = [f"ETag: {tag}", "Accept-Ranges: bytes"]
        if fields.get("range", "").startswith("bytes=") and fields.get("if-range", tag) == tag:
            start = int(fields["range"][6:].split("-")[0])
            status = "206 Partial Content"
            more.append(f"Content-Range: bytes {start}-{len(data) - 1}/{len(data)}")
        head = [f"HTTP/1.1 {status}", f"Content-Length: {len(data) - start}", *more, "", ""]
        writer.write("\r\n".join(head).encode())
        for begin in range(start, len(data), 1 << 14):
            piece = data[begin:begin + (1 << 14)]
            writer.write(piece)
            await writer.drain()
            if rate:
                await asyncio.sleep(len(piece) / rate)


async def serve_http(port, tls=None, files=None, log=None):
    context = None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
    server = HTTPServer(files, log)
    listening = []
    for family, address in (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"):
        try:
            each = socket.socket(family)
            # What a slow reader has not read shall wait with the sender.
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            each.bind((address, port))
            listening.append(await asyncio.start_server(server.serve, sock=each, ssl=context, backlog=1024, limit=1 << 16))
        except OSError:
            if family == socket.AF_INET:
                raise
    print("ready", flush=True)
    await asyncio.Event().wait()


class DNSServer(asyncio.DatagramProtocol):
    """Answers each question for an A record with one address, and for others that there are none."""

    def __init__(self, mode, address, log):
        self.mode = mode
        self.address = address
        self.log = open(log, "a", buffering=1)

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, sender):
        self.log.write("question\n")
        delay = 1 if self.mode == "slow" else 0
        if self.mode != "silent":
            reply = self.reply(data, isTruncated=self.mode == "truncates")
            asyncio.get_running_loop().call_later(delay, self.transport.sendto, reply, sender)

    def reply(self, query, isTruncated=False):
        end = query.index(b"\0", 12) + 5
        question = query[12:end]
        isForAddress = question[-4:-2] == b"\0\1"
        flags = 0x8180 | (0x0200 if isTruncated else 0) | (2 if self.mode == "fails" else 0)
        hasAnswer = isForAddress and not isTruncated and self.mode != "fails"
        answer = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton(self.address)
        return query[:2] + struct.pack(">HHHHH", flags, 1, int(hasAnswer), 0, 0) + question + answer * hasAnswer

    async def serve_stream(self, reader, writer):
        """Answers over TCP: glibc asks for A and AAAA on one connection, one after the other."""
        try:
            while True:
                length, = struct.unpack(">H", await reader.readexactly(2))
                reply = self.reply(await reader.readexactly(length))
                writer.write(struct.pack(">H", len(reply)) + reply)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()


async def serve_dns(mode, address, log):
    loop = asyncio.get_running_loop()
    _, server = await loop.create_datagram_endpoint(lambda: DNSServer(mode, address, log), ("127.0.0.53", 53))
    if mode == "truncates":
        await asyncio.start_server(server.serve_stream, "127.0.0.53", 53)
    print("ready", flush=True)
    await asyncio.Event().wait()


def main(kind, *arguments):
    if kind == "dns":
        return asyncio.run(serve_dns(*arguments))
    port, options = int(arguments[0]), list(arguments[1:])
    named = {}
    while options:
        name = options.pop(0)
        named[name[2:]] = (options.pop(0), options.pop(0)) if name == "--tls" else options.pop(0)
    asyncio.run(serve_http(port, **named))


if __name__ == "__main__":
    main(*sys.argv[1:])
