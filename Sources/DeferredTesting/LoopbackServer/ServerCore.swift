import Dispatch

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
    private let beforeBody: (@Sendable (Request) -> Script?)?
    private let respond: @Sendable (Request) -> Script
    private let address: SocketAddress
    private let tls: TLSContext?

    init(
        at address: SocketAddress,
        tls: TLSContext?,
        journal: ServerJournal,
        beforeBody: (@Sendable (Request) -> Script?)?,
        respond: @escaping @Sendable (Request) -> Script
    ) throws(SystemError) {
        self.address = address
        self.tls = tls
        self.journal = journal
        self.beforeBody = beforeBody
        self.respond = respond
        stopSignal = try StopSignal()
        listener = try Socket.listening(at: address)
        do {
            port = try listener.localPort(of: address)
        } catch {
            listener.close()
            throw error
        }
    }

    var resumptionCount: Int { tls?.resumptionCount ?? 0 }

    /// Starts the accepting thread, which owns the listening socket from then on.
    func start() throws(SystemError) {
        for _ in 0..<Self.connectionLimit { freeSlots.signal() }
        do {
            try threads.start { [self] in acceptConnections() }
        } catch {
            closeListener()
            throw error
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
            guard let socket = nextConnection() else {
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
        if case .path(let path) = address { Socket.remove(path) }
    }

    /// Waits for a connection; returns `nil` when the server has been stopped.
    private func nextConnection() -> Socket? {
        while listener.wait(for: .receiving, until: nil, orUntil: stopSignal) != .stopped {
            do {
                if let socket = try listener.accept() { return socket }
            } catch {
                // If descriptors have run out, the connection stays in the backlog; any other error has consumed it.
                guard error.meansExhausted else { continue }
                _ = listener.wait(for: .breaking, until: .now + .milliseconds(10), orUntil: stopSignal)
            }
        }
        return nil
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
        let connection = Connection(socket: socket, number: number, stopSignal: stopSignal, tls: session)
        ConnectionLoop(connection: connection, journal: journal, beforeBody: beforeBody, respond: respond).run()
    }
}
