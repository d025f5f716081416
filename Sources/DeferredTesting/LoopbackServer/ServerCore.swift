import Foundation

/// The part of a server that its threads retain: the listening socket and the loop that accepts connections.
///
/// The threads never retain the `LoopbackServer` itself, so that it can be released, and stop, while they run.
final class ServerCore: Sendable {
    typealias Request = LoopbackServer.Request
    typealias Script = LoopbackServer.Script

    /// The number of connections served at a time; more wait in the backlog until others have ended.
    private static let connectionLimit = 2_000

    let port: UInt16
    let journal: ServerJournal
    private let listener: Socket
    private let stopSignal: StopSignal
    private let threads = ThreadGroup()
    private let freeSlots = DispatchSemaphore(value: 0)
    let beforeBody: (@Sendable (Request) -> Script?)?
    let respond: @Sendable (Request) -> Script
    let address: SocketAddress
    let tls: TLSContext?

    /// Starts the accepting thread, which owns the listening socket from then on.
    init(
        at address: SocketAddress,
        tls: LoopbackServer.TLS?,
        requestLogLimit: Int,
        beforeBody: (@Sendable (Request) -> Script?)?,
        respond: @escaping @Sendable (Request) -> Script
    ) throws(LoopbackServer.StartError) {
        self.address = address
        self.tls = try tls.map { tls throws(LoopbackServer.StartError) in try TLSContext(tls) }
        journal = ServerJournal(limit: requestLogLimit)
        self.beforeBody = beforeBody
        self.respond = respond
        do {
            stopSignal = try StopSignal()
            (listener, port) = try Socket.listening(at: address)
        } catch {
            throw LoopbackServer.StartError(at: address, error)
        }
        for _ in 0..<Self.connectionLimit { freeSlots.signal() }
        do {
            try threads.start { [self] in acceptConnections() }
        } catch {
            closeListener()
            throw LoopbackServer.StartError(at: address, error)
        }
    }

    func stop() {
        stopSignal.raise()
        freeSlots.signal()
        threads.joinAll()
    }

    private func acceptConnections() {
        defer { closeListener() }
        while true {
            freeSlots.wait()
            guard let socket = try? nextConnection() else {
                freeSlots.signal()
                return
            }
            let number = journal.connectionOpened()
            do {
                try threads.start { [self] in serve(socket, number: number) }
            } catch {
                // The system can't start another thread: the peer sees its connection closed.
                journal.connectionCloses()
                socket.close()
                freeSlots.signal()
            }
        }
    }

    private func closeListener() {
        listener.close()
        if case .path(let path) = address { unlink(path) }
    }

    /// Waits for a connection.
    private func nextConnection() throws(Stopped) -> Socket {
        while true {
            _ = try listener.wait(for: .receiving, until: nil, orUntil: stopSignal)
            do {
                if let socket = try listener.accept() { return socket }
            } catch {
                // If descriptors have run out, the connection stays in the backlog; any other error has consumed it.
                guard error.meansExhausted else { continue }
                _ = try listener.wait(for: .breaking, until: .now + .milliseconds(10), orUntil: stopSignal)
            }
        }
    }

    private func serve(_ socket: Socket, number: Int) {
        defer { freeSlots.signal() }
        let session: TLSSession?
        do {
            session = try tls.map { try TLSSession($0) }
        } catch {
            journal.connectionCloses()
            return socket.close()
        }
        serve(Connection(socket: socket, number: number, stopSignal: stopSignal, tls: session))
    }
}
