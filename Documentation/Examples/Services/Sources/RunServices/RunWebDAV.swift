import Deferred
import DeferredTesting
import Foundation
import Services

/// Writes, lists, moves and removes files at Debian's lighttpd with its module webdav.
func runWebDAV() async throws {
    guard FileManager.default.fileExists(atPath: "/usr/lib/lighttpd/mod_webdav.so") else {
        print("skipped: lighttpd-mod-webdav is not installed")
        return
    }
    let server = try Server("lighttpd") { folder, port in
        let configuration = folder.appending(path: "lighttpd.conf")
        let root = folder.appending(path: "root")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let text = """
            server.document-root = "\(root.path)"
            server.bind = "127.0.0.1"
            server.port = \(port)
            server.modules = ("mod_webdav")
            mimetype.assign = ("" => "application/octet-stream")
            webdav.activate = "enable"
            """
        try Data(text.utf8).write(to: configuration)
        return ["-D", "-f", configuration.path]
    }
    guard let server else { return }
    defer { server.stop() }
    try await server.waitUntilReady(HTTPRequest(path: "/"))

    // Recorded by a name, since the port is another one each time.
    let recorder = Recorder()
    let port = server.port
    let network =
        recorder --> ModifyRequest { ($0.host, $0.port) = ("127.0.0.1", port) } --> URLSessionLoader()
    let files = WebDAV(HTTPEnvironment(scheme: "http", host: "files.example"), over: network)
    try await files.createFolder("/notes/")
    try await files.createFolder("/notes/")
    let first = try await files.put(.text("first"), at: "/notes/a & b.txt", if: .isAbsent)
    let second = try await files.put(.text("second"), at: "/notes/a & b.txt", if: .hasTag(first ?? ""))
    for condition in [WebDAV.Condition.isAbsent, .hasTag(first ?? "")] {
        do {
            try await files.put(.text("third"), at: "/notes/a & b.txt", if: condition)
            try check(false, "somebody else's file was overwritten")
        } catch is WebDAV.Conflict {}
    }
    let (bytes, tag) = try await files.get("/notes/a & b.txt")
    try check(bytes == Data("second".utf8) && tag == second, "the file that was read is another one")
    try await files.move("/notes/a & b.txt", to: "/notes/ä.txt")
    try await files.createFolder("/notes/old/")
    let items = try await files.list("/notes/")
    try check(items.map(\.path).sorted() == ["/notes/old/", "/notes/ä.txt"], "the folder has \(items)")
    for _ in 0..<2 { try await files.remove("/notes/") }
    if let file = ProcessInfo.processInfo.environment["RECORD"] { try recorder.write(to: URL(filePath: file)) }
    print("WebDAV: wrote, listed, moved and removed \(items.count) items")
}
