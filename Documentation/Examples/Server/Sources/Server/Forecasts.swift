import Deferred
import Foundation
import Hummingbird
import ServiceLifecycle

/// A server that answers with what it reads from another one.
///
/// Hummingbird has a `Router`, an `HTTPError`, an `HTTPRequest` and an `HTTPResponse`, too.
struct Forecasts {
    let upstream: any HTTPLoader

    var router: Hummingbird.Router<BasicRequestContext> {
        let router = Hummingbird.Router()
        router.get("forecasts/:city") { request, context in
            guard let city = try context.parameters.require("city").removingPercentEncoding else {
                throw Hummingbird.HTTPError(.badRequest)
            }
            var question = DeferredHTTP.HTTPRequest(path: "/v1")
            question.appendPathSegments(city)
            return try await answer(to: request, from: question)
        }
        return router
    }

    /// The Swift task in which this runs is cancelled when the client goes away, and when the server begins to shut down.
    /// Then `get()` cancels the request to the other server, which ends its transfer.
    ///
    /// Hummingbird closes the connection after such a response: that costs more than it spares where all answers come soon.
    private func answer(to request: Request, from question: DeferredHTTP.HTTPRequest) async throws -> Response {
        try await request.body.consumeWithCancellationOnInboundClose { _ in
            try await cancelWhenGracefulShutdown {
                do {
                    let answer = try await upstream.load(question).get()
                    return Response(
                        status: .init(code: answer.status.code),
                        headers: [.contentType: answer.headers["Content-Type"] ?? "application/octet-stream"],
                        body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
                    )
                } catch let error as DeferredHTTP.HTTPError {
                    throw Hummingbird.HTTPError(error.code == .cancelled ? .serviceUnavailable : .badGateway)
                }
            }
        }
    }
}
