import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

extension URLClientTests.Faults {
    private static let ok = LoopbackServer.Script.response(body: "1234567890")

    private static func redirect(_ script: LoopbackServer.Script)
        -> @Sendable (LoopbackServer.Request) -> LoopbackServer.Script
    {
        { $0.path == "/" ? script : ok }
    }

    static let redirects = [
        FaultRow("a redirect to itself", .redirect(to: "/"), .url(.httpTooManyRedirects)),
        FaultRow("ten thousand redirects", .url(.httpTooManyRedirects)) { .redirect(to: "/\($0.number)") },
        FaultRow("301", fine, respond: redirect(.redirect(to: "/next", status: 301))),
        FaultRow("302", fine, respond: redirect(.redirect(to: "/next", status: 302))),
        FaultRow("303", fine, respond: redirect(.redirect(to: "/next", status: 303))),
        FaultRow("307", fine, respond: redirect(.redirect(to: "/next", status: 307))),
        FaultRow("308", fine, respond: redirect(.redirect(to: "/next", status: 308))),
        FaultRow("a redirect to a path above", fine, respond: redirect(.redirect(to: "../../next"))),
        // The platform reports a redirect only when its body has arrived.
        FaultRow(
            "a redirect with a body that never comes",
            late,
            respond: redirect(.response(302, headers: ["Location": "/next"], contentLength: 10) + [.stall])
        ),
        FaultRow("a redirect without a target", .response(302), status(302)),
        FaultRow("a redirect to another scheme", .redirect(to: "ftp://127.0.0.1/"), status(302)),
        FaultRow("a redirect to a script", .redirect(to: "javascript:alert(1)"), status(302)),
        FaultRow("a redirect to a file", .redirect(to: "file:///etc/passwd"), status(302)),
        FaultRow("a redirect to nowhere", .redirect(to: "http://127.0.0.1:1/"), .url(.cannotConnectToHost)),
        FaultRow("a redirect to a reset", lost) { $0.path == "/" ? .redirect(to: "/next") : [.reset] },
        FaultRow("a redirect to a stall", late) { $0.path == "/" ? .redirect(to: "/next") : [.stall] },
        FaultRow("a redirect to a body cut short", .client(.truncatedBody(received: 2, expected: 10))) {
            $0.path == "/" ? .redirect(to: "/next") : .response(body: "12", contentLength: 10) + [.close]
        },
        FaultRow("300", .response(300, headers: ["Location": "/next"], body: "choose"), status(300, "choose")),
        FaultRow(
            "a Basic challenge",
            .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "no"),
            status(401, "no")
        ),
        FaultRow(
            "a Bearer challenge",
            .response(401, headers: ["WWW-Authenticate": "Bearer"], body: "no"),
            status(401, "no")
        ),
        FaultRow(
            "a Digest challenge",
            .response(401, headers: ["WWW-Authenticate": "Digest realm=\"r\", nonce=\"n\""], body: "no"),
            status(401, "no")
        ),
        FaultRow(
            "a challenge of nonsense",
            .response(401, headers: ["WWW-Authenticate": ", ,\"="], body: "no"),
            status(401, "no")
        ),
        FaultRow("a 401 without a challenge", .response(401, body: "no"), status(401, "no")),
        FaultRow(
            "a proxy's challenge",
            .response(407, headers: ["Proxy-Authenticate": "Basic realm=\"r\""], body: "no"),
            status(407, "no")
        ),
        FaultRow(
            "a challenge for a wrong password",
            .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "no"),
            status(401, "no"),
            change: { $0.authentication = .basic(user: "me", password: "wrong") }
        ),
        FaultRow(
            "a challenge whose body never comes",
            .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""], contentLength: 10) + [.stall],
            late
        ),
    ]

    @Test(arguments: redirects)
    func `redirects and challenges`(row: FaultRow) async throws { try await row.check() }
}
