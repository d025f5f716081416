import Deferred
import Foundation

/// A client of a container registry: the distribution specification of OCI, version 1.1.
package struct Registry: Sendable {
    /// A manifest as it was pushed: its digest is that of these bytes.
    package struct Manifest: Sendable {
        package struct Blob: Codable, Sendable, Hashable {
            package var mediaType: String
            package var digest: String
            package var size: Int
        }

        private struct Contents: Codable {
            var schemaVersion = 2
            var mediaType: String? = Manifest.type
            var config: Blob
            var layers: [Blob]
        }

        static let type = "application/vnd.oci.image.manifest.v1+json"
        package let bytes: Data
        package let config: Blob
        package let layers: [Blob]

        package init(config: Blob, layers: [Blob]) throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            bytes = try encoder.encode(Contents(config: config, layers: layers))
            (self.config, self.layers) = (config, layers)
        }

        init(bytes: Data) throws {
            let contents = try JSONDecoder().decode(Contents.self, from: bytes)
            (self.bytes, config, layers) = (bytes, contents.config, contents.layers)
        }
    }

    /// The bytes that came are not those that the digest names.
    package struct WrongDigest: Error { package let expected, found: String }

    struct NoRealm: Error {}
    private struct Token: Decodable { let token: String }

    private let chain: any HTTPLoader

    /// - Parameters:
    ///   - server: Such as `https://registry.example`.
    ///   - credential: The name and the password with which tokens are fetched; `nil` for a public registry.
    package init(
        _ server: HTTPEnvironment,
        credential: (user: String, password: String)? = nil,
        over network: any HTTPLoader
    ) {
        let port = server.port.map { ":\($0)" } ?? ""
        // Where uploads go is named by the registry, with its host.
        let hosts: Set = ["\(server.scheme)://\(server.host)\(port)"]
        let bearer = BearerAuthentication(hosts: hosts, scope: Self.scope) { refusal in
            let challenge = refusal.challenges.first { $0.isOf("Bearer") }
            guard let challenge, let realm = challenge["realm"].flatMap(URL.init(string:)) else {
                return .failure(NoRealm())
            }
            var request = HTTPRequest(url: realm)
            for name in ["service", "scope"] {
                if let value = challenge[name] { request.addQueryItem(name: name, value: value) }
            }
            // The realm is named by the registry, which has to be one that is trusted with the password.
            request.headers["Authorization"] = credential.map {
                "Basic " + Data("\($0.user):\($0.password)".utf8).base64EncodedString()
            }
            return (Validate() --> network).load(request).task.map { try $0.decode(Token.self).token }
        }
        chain = Validate() --> Retry() --> ApplyEnvironment(server) --> bearer --> network
    }

    /// Returns what a request needs a token for: a repository, to read it or to write to it.
    private static func scope(_ request: HTTPRequest) -> String {
        let repository = request.path.split(separator: "/").dropFirst().prefix { !["blobs", "manifests"].contains($0) }
        return repository.joined(separator: "/") + (request.method.isSafe ? ":pull" : ":push")
    }

    package func manifest(of name: String, _ reference: String) async throws -> Manifest {
        let request = HTTPRequest(path: "/v2/\(name)/manifests/\(reference)", headers: ["Accept": Manifest.type])
        return try Manifest(bytes: try await chain.load(request).get().body)
    }

    /// Downloads a blob into a file, resuming what an earlier call left, and checks its digest.
    package func pull(_ blob: Manifest.Blob, of name: String, to file: URL) async throws {
        var request = HTTPRequest(path: "/v2/\(name)/blobs/\(blob.digest)")
        request.delivery = .file(file)
        _ = try await chain.load(request).get()
        let digest = Digest.text(try Data(contentsOf: file))
        guard digest == blob.digest else {
            try FileManager.default.removeItem(at: file)
            throw WrongDigest(expected: blob.digest, found: digest)
        }
    }

    /// Uploads a blob, unless the registry has it.
    package func push(_ bytes: Data, as type: String, to name: String) async throws -> Manifest.Blob {
        let blob = Manifest.Blob(mediaType: type, digest: Digest.text(bytes), size: bytes.count)
        var question = HTTPRequest(.head, path: "/v2/\(name)/blobs/\(blob.digest)")
        question.acceptsStatus = { $0.isSuccess || $0 == .notFound }
        if try await chain.load(question).get().status.isSuccess { return blob }
        let begun = try await chain.load(HTTPRequest(.post, path: "/v2/\(name)/blobs/uploads/")).get()
        // A relative or an absolute URL, of the registry or of a store, which gets no token.
        guard let place = begun.headers["Location"].flatMap({ URL(string: $0, relativeTo: begun.url) }) else {
            throw URLError(.badServerResponse)
        }
        var upload = HTTPRequest(.put, url: place.absoluteURL, body: .data(bytes))
        upload.addQueryItem(name: "digest", value: blob.digest)
        _ = try await chain.load(upload).get()
        return blob
    }

    package func push(_ manifest: Manifest, to name: String, _ reference: String) async throws {
        let body = HTTPBody.data(manifest.bytes, contentType: Manifest.type)
        _ = try await chain.load(HTTPRequest(.put, path: "/v2/\(name)/manifests/\(reference)", body: body)).get()
    }
}
