internal import DeferredNetworking
public import Foundation

extension OAuth {
    /// The code to show to somebody who signs in with another device.
    public struct DeviceCode: Sendable {
        /// The code to enter.
        public let userCode: String

        /// The URL at which to enter it.
        public let url: URL

        /// A URL that has the code already, for a QR code, if the server gives one.
        public let completeURL: URL?
    }

    /// Signs in with another device: RFC 8628.
    ///
    /// ```swift
    /// try await oauth.signIn { code in print("Enter \(code.userCode) at \(code.url)") }
    /// ```
    ///
    /// Asks the server at the interval that it wants until somebody has entered the code, or refused, or the code has
    /// expired. Failures that may pass are waited out. Cancelling the Swift task ends it.
    ///
    /// - Parameter show: Shows the code; called once.
    /// - Throws: ``Failure``, the ``HTTPError`` of a request, or an error of the storage or of `show`.
    public func signIn(showing show: (DeviceCode) async throws -> Void) async throws {
        guard let url = endpoint.client.device else { throw Failure.unsupported }
        let answer = try await endpoint.load(DeviceAnswer.self, from: url, endpoint.scope)
        try await show(
            DeviceCode(
                userCode: answer.userCode,
                url: answer.verificationUri,
                completeURL: answer.verificationUriComplete
            )
        )
        let expiry = endpoint.now() + min(answer.expiresIn, OAuthEndpoint.longestLifetime)
        // A sleep of more seconds than a clock can count would trap.
        var interval = Duration.seconds(min(max(answer.interval ?? 5, 0), 1 << 30))
        while true {
            try await endpoint.clock.sleep(for: interval)
            do {
                let grant = "urn:ietf:params:oauth:grant-type:device_code"
                return try await adopt(endpoint.tokens(["grant_type": grant, "device_code": answer.deviceCode]))
            } catch Failure.refused("authorization_pending", _) where endpoint.now() < expiry {
            } catch Failure.refused("slow_down", _) where endpoint.now() < expiry {
                interval += .seconds(5)
            } catch let error as HTTPError where error.isTransient && endpoint.now() < expiry {
                // RFC 8628, section 3.5: never more often than the server wants.
                interval = max(interval, min(interval * 2, .seconds(60)))
            }
        }
    }

    /// Signs in with a browser: RFC 6749, section 4.1, with the proof key of RFC 7636.
    ///
    /// - Parameters:
    ///   - redirect: The URL to which the server sends the browser, as it is registered.
    ///   - open: Opens a URL in a browser, and returns the URL to which that was sent.
    /// - Throws: ``Failure``, the ``HTTPError`` of a request, or an error of the storage or of `open`.
    public func signIn(redirect: URL, opening open: (URL) async throws -> URL) async throws {
        guard let authorization = endpoint.client.authorization else { throw Failure.unsupported }
        let (verifier, state) = (Self.random(), Self.random())
        var request = HTTPRequest(url: authorization)
        let challenge = Self.encoded(SHA256.hash(Array(verifier.utf8)))
        let items = [
            "response_type": "code", "client_id": endpoint.client.id, "redirect_uri": redirect.absoluteString,
            "state": state, "code_challenge": challenge, "code_challenge_method": "S256",
        ].merging(endpoint.scope) { one, _ in one }
        for (name, value) in items.sorted(by: { $0.key < $1.key }) { request.addQueryItem(name: name, value: value) }
        for item in endpoint.client.parameters { request.addQueryItem(name: item.name, value: item.value) }
        let answer = try await HTTPRequest(url: open(request.makeURL())).query
        func value(_ name: String) -> String? { answer.first { $0.name == name }?.value }
        guard value("state") == state else { throw Failure.wrongState }
        guard let code = value("code") else {
            throw Failure.refused(code: value("error") ?? "no code", description: value("error_description"))
        }
        try await adopt(
            endpoint.tokens([
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirect.absoluteString,
                "code_verifier": verifier,
            ])
        )
    }

    /// Returns 32 random bytes as 43 characters.
    private static func random() -> String { encoded((0..<32).map { _ in UInt8.random(in: 0...255) }) }

    /// Returns bytes in the Base64 of URLs, without padding: RFC 4648, section 5.
    private static func encoded(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

private struct DeviceAnswer: Decodable {
    let deviceCode: String
    let userCode: String
    let verificationUri: URL
    let verificationUriComplete: URL?
    let expiresIn: TimeInterval
    let interval: Int?
}

/// The requests to an OAuth server.
struct OAuthEndpoint: Sendable {
    let client: OAuth.Client
    let loader: any HTTPLoader
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date

    /// A century, in seconds: what lasts longer has no date that can be shown.
    static let longestLifetime: TimeInterval = 100 * 365 * 86_400

    var scope: [String: String] { client.scopes.isEmpty ? [:] : ["scope": client.scopes.joined(separator: " ")] }

    /// Requests tokens: RFC 6749, section 5.
    func tokens(_ grant: [String: String]) async throws -> OAuth.Tokens {
        // The lifetime begins at the latest when the answer is sent, which may be long before it is here.
        let issued = now()
        let answer = try await load(TokenAnswer.self, from: client.token, grant)
        return OAuth.Tokens(
            access: answer.accessToken,
            refresh: answer.refreshToken,
            type: answer.tokenType ?? "Bearer",
            expiry: answer.expiresIn.map { issued + min($0, OAuthEndpoint.longestLifetime) },
            issued: issued
        )
    }

    func load<Answer: Decodable>(
        _ type: Answer.Type,
        from url: URL,
        _ fields: [String: String]
    ) async throws -> Answer {
        var (fields, headers): ([String: String], HTTPHeaders) = (fields, ["Accept": "application/json"])
        if let secret = client.secret, client.secretPlace == .header {
            let words = [client.id, secret].map { PercentEncoding.encode($0, allowing: PercentEncoding.form) }
            headers["Authorization"] = try BasicCredential.field(user: words[0], password: words[1])
        } else {
            fields["client_id"] = client.id
            fields["client_secret"] = client.secret
        }
        let items = fields.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        var request = HTTPRequest(.post, url: url, headers: headers, body: .form(items + client.parameters))
        request.isAuthenticated = false
        // The body is full of secrets, which a 307 or 308 would carry to another origin.
        request.redirection = .refused
        let result: HTTPResult
        do { result = .success(try await loader.load(request).get()) } catch { result = .failure(error) }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let response = result.arrived else { return try result.get().decode(using: decoder) }
        let refusal = HTTPError(.unacceptableStatus, request: request, response: response)
        // A server that fails, or is busy, refuses nothing, whatever its body says.
        if refusal.isTransient || response.status.isServerError { throw refusal }
        // Some servers refuse with a status of 200.
        if let failure = try? decoder.decode(FailureAnswer.self, from: response.body) {
            throw OAuth.Failure.refused(code: failure.error, description: failure.errorDescription)
        }
        guard response.status.isSuccess else { throw refusal }
        if case .failure(let error) = result, error.code == .invalidResponse { throw error }
        return try response.decode(using: decoder)
    }
}

private struct TokenAnswer: Decodable {
    let accessToken: String
    let tokenType: String?
    let refreshToken: String?
    let expiresIn: TimeInterval?
}

private struct FailureAnswer: Decodable {
    let error: String
    let errorDescription: String?
}
