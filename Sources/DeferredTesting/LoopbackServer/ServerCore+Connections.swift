internal import DeferredNetworking
import Foundation

extension ServerCore {
    /// The time that the peer has to receive what was sent before the connection is cut.
    private static let patience = Duration.seconds(1)

    /// Serves one connection from its first request to its end.
    func serve(_ connection: Connection) {
        var ending = Ending.close
        do {
            while let head = try connection.readHead() {
                ending = try answer(head, on: connection)
                if ending != .keepOpen { break }
            }
        } catch let error as RequestError {
            let answer = Script.response(
                error.status,
                headers: ["Connection": "close"],
                body: .text(error.explanation + "\n")
            )
            var player = ScriptPlayer(connection: connection, body: nil)
            _ = try? player.play(answer)
            ending = .closeGently
        } catch {
            ending = .close
        }
        end(connection, ending)
    }

    private func answer(_ head: RequestHead, on connection: Connection) throws -> Ending {
        var request = Request(head, number: journal.requestArrived(), connectionNumber: connection.number)
        let body = BodyReader(head: head, connection: connection)
        let early = beforeBody?(request)
        do {
            // Also a request that is cut short.
            defer { journal.note(request) }
            while early == nil, case let piece = try body.next(atMost: .max), !piece.isEmpty { request.body += piece }
            request.trailers = HTTPHeaders(body.trailers)
        }
        var player = ScriptPlayer(connection: connection, body: body, isHead: request.method == "HEAD")
        do {
            let ending = try player.play(early ?? respond(request))
            guard ending == .keepOpen else { return ending == .close && !body.hasEnded ? .closeGently : ending }
            guard head.keepsConnection, !body.owesContinue else { return body.hasEnded ? .close : .closeGently }
            while try !body.next(atMost: 64 * 1_024).isEmpty {}
            return .keepOpen
        } catch is RequestError where player.hasBegun {
            // The client would take a refusal for a part of the answer, or for that to its next request.
            return .closeGently
        }
    }

    private func end(_ connection: Connection, _ ending: Ending) {
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
