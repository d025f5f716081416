import Deferred
import Foundation
import Services

/// Writes to Debian's etcd, which is killed meanwhile, and watches that each change arrives once.
func runEtcd() async throws {
    let server = try Server("etcd") { folder, port in
        let (client, peer) = ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(port + 10_000)")
        return [
            "--data-dir", folder.appending(path: "data").path, "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", "default=\(peer)",
        ]
    }
    guard let server else { return }
    defer { server.stop() }
    let health = HTTPRequest(path: "/health")
    try await server.waitUntilReady(health)

    let etcd = Etcd(server.environment, over: URLSessionLoader())
    let start = try await etcd.range("number/").revision
    let watch = Task {
        var revisions: [Int] = []
        for try await changes in etcd.watch("number/", after: start) {
            revisions += changes.map(\.entry.revision.number)
            if changes.contains(where: \.isDeletion) { break }
        }
        return revisions
    }
    for number in 0..<200 {
        if number % 60 == 59 {
            try server.crash()
            try await server.waitUntilReady(health)
        }
        try await etcd.put(Data("\(number)".utf8), as: "number/\(number)")
    }
    try check(await etcd.range("number/").entries.count == 200, "not all that was written is there")

    let lease = try await etcd.grantLease(seconds: 1)
    try await etcd.put(Data("x".utf8), as: "number/for a second", lease: lease)
    try await etcd.keepAlive(lease)
    let revisions = try await watch.get()
    // Each write is a revision, and so is the end of the lease.
    try check(
        revisions == Array(start.number + 1...start.number + 202),
        "changes are missing, or came twice: \(revisions)"
    )
    do {
        try await etcd.keepAlive(lease)
        try check(false, "the lease has not expired")
    } catch is Etcd.LeaseExpired {}
    print("etcd: \(revisions.count) changes, each once, though the server was killed three times")
}
