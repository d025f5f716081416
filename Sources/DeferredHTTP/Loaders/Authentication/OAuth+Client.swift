public import Foundation

extension OAuth {
    /// An application that is registered with an OAuth server.
    public struct Client: Sendable {
        let id: String
        let secret: String?
        let token: URL
        let device: URL?
        let authorization: URL?
        let scopes: [String]
        let grant: Grant
        let secretPlace: SecretPlace
        let parameters: [URLQueryItem]

        /// The way to the first tokens.
        public enum Grant: Sendable, Hashable {
            /// Somebody signs in, and the tokens are renewed with a refresh token.
            case signIn

            /// The application itself gets tokens, with its secret: RFC 6749, section 4.4.
            case clientCredentials
        }

        /// The part of a request that has the secret.
        public enum SecretPlace: Sendable, Hashable {
            /// The field `Authorization`, as RFC 6749, section 2.3.1, wants it.
            case header

            /// The body, for servers that want it there.
            case body
        }

        /// Creates a description of an application.
        ///
        /// - Parameters:
        ///   - id: The identifier of the application.
        ///   - secret: Its secret, if it has one.
        ///   - token: The URL of the token endpoint.
        ///   - device: The URL of the device authorization endpoint, for ``OAuth/signIn(showing:)``.
        ///   - authorization: The URL of the authorization endpoint, for ``OAuth/signIn(redirect:opening:)``.
        ///   - scopes: What the tokens are to allow; empty for the server's default.
        ///   - grant: The way to the first tokens.
        ///   - secretPlace: The part of a request that has the secret.
        ///   - parameters: Further parameters of all requests to the server, such as an audience or a resource.
        public init(
            id: String,
            secret: String? = nil,
            token: URL,
            device: URL? = nil,
            authorization: URL? = nil,
            scopes: [String] = [],
            grant: Grant = .signIn,
            secretPlace: SecretPlace = .header,
            parameters: [URLQueryItem] = []
        ) {
            self.id = id
            self.secret = secret
            self.token = token
            self.device = device
            self.authorization = authorization
            self.scopes = scopes
            self.grant = grant
            self.secretPlace = secretPlace
            self.parameters = parameters
        }
    }
}

extension OAuth.Client: CustomStringConvertible, CustomReflectable {
    /// The identifier and the URL of the token endpoint, but not the secret.
    public var description: String { "OAuth client \(DisplayText.quoted(id)) of \(DisplayText.quoted(token))" }

    /// Without the secret, and without parameters that may be secret, too.
    public var customMirror: Mirror { Mirror(self, children: ["client": description]) }
}
