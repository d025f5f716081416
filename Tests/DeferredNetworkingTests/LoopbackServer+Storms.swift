import DeferredNetworking
import DeferredTesting

extension LoopbackServer {
    /// Starts a server that answers in every way that a storm of cancellations should meet.
    static func forStorms(bodySize: Int) throws -> LoopbackServer {
        try LoopbackServer(requestLogLimit: 0) { request in
            switch request.path {
            case "/redirect": .redirect(to: "/ok", status: 307)
            case "/loop": .redirect(to: "/loop")
            case "/basic" where request.headers["Authorization"] != nil: .response(body: "welcome")
            case "/basic":
                .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "denied")
            case "/big": .response(body: .pattern(count: bodySize))
            case "/reset": .response(body: "12345", contentLength: 10) + [.reset]
            case "/stall": .response(body: "12345", contentLength: 10) + [.stall]
            case "/busy": request.number % 2 == 0 ? .response(503) : .response(body: "hello")
            default: .response(body: "hello")
            }
        }
    }
}
