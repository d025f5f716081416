internal import DeferredNetworking
import Foundation

/// Serves one connection from its first request to its end.
struct ConnectionLoop {
    typealias Request = LoopbackServer.Request
    typealias Script = LoopbackServer.Script

    /// The time that the peer has to receive what was sent before the connection is cut.
    private static let patience = Duration.seconds(1)

    let connection: Connection
    let journal: ServerJournal
    let beforeBody: (@Sendable (Request) -> Script?)?
    let respond: @Sendable (Request) -> Script

    func run() {
        var ending = Ending.close
        do {
            while let head = try connection.readHead() {
                ending = try answer(head)
                if ending != .keepOpen { break }
            }
        } catch let error as RequestError {
            let answer = Script.response(
                error.status,
                headers: ["Connection": "close"],
                body: .text(error.explanation + "\n")
            )
            _ = try? ScriptPlayer(connection: connection, body: nil).play(answer)
            ending = .closeGently
        } catch {
            ending = .close
        }
        end(ending)
    }

    private func answer(_ head: RequestHead) throws -> Ending {
        var request = Request(head, number: journal.requestArrived(), connectionNumber: connection.number)
        let body = BodyReader(head: head, connection: connection)
        let early = beforeBody?(request)
        do {
            while early == nil, case let piece = try body.next(atMost: .max), !piece.isEmpty { request.body += piece }
        } catch {
            journal.note(request)
            throw error
        }
        request.trailers = HTTPHeaders(body.trailers)
        journal.note(request)
        let player = ScriptPlayer(connection: connection, body: body, isHead: request.method == "HEAD")
        let ending = try player.play(early ?? respond(request))
        guard ending == .keepOpen else { return ending == .close && !body.hasEnded ? .closeGently : ending }
        guard head.keepsConnection, !body.isUnrequested else { return body.hasEnded ? .close : .closeGently }
        while try !body.next(atMost: 64 * 1_024).isEmpty {}
        return .keepOpen
    }

    private func end(_ ending: Ending) {
        journal.connectionCloses()
        let deadline = ContinuousClock.now + Self.patience
        switch ending {
        case .keepOpen, .close:
            // Discards only input that has already arrived, such as the next of several pipelined requests.
            try? connection.linger(until: .now)
        case .closeGently:
            try? connection.linger(until: deadline)
        case .reset:
            try? connection.waitForDelivery(until: deadline)
            connection.socket.resetOnClose()
        }
        connection.socket.close()
    }
}

/// The action to take on a connection after a script.
enum Ending {
    case keepOpen
    case close
    /// Closes a connection with unread input in such a way that the peer still receives what was sent.
    case closeGently
    case reset
}
