internal import DeferredNetworking
public import Foundation

extension HTTPBody {
    /// One part of a multipart body.
    public struct Part: Sendable {
        let name: String
        let fileName: String?
        let contentType: String?
        let content: Piece

        /// Creates a field with text.
        public init(name: String, text: String) {
            self.init(name: name, data: Data(text.utf8))
        }

        /// Creates a field with bytes.
        ///
        /// - Parameters:
        ///   - name: The name of the field.
        ///   - data: The bytes.
        ///   - fileName: The file name to send to the server; `nil` for none.
        ///   - contentType: The type of the bytes; `nil` for none.
        public init(name: String, data: Data, fileName: String? = nil, contentType: String? = nil) {
            self.name = name
            self.fileName = fileName
            self.contentType = contentType
            content = .data(data)
        }

        /// Creates a field with a file, which is read while it is sent.
        ///
        /// - Parameters:
        ///   - name: The name of the field.
        ///   - file: A file URL.
        ///   - fileName: The file name to send to the server; `nil` for the file's own.
        ///   - contentType: The type of the file.
        public init(
            name: String,
            file: URL,
            fileName: String? = nil,
            contentType: String = "application/octet-stream"
        ) {
            self.name = name
            self.fileName = fileName ?? file.lastPathComponent
            self.contentType = contentType
            content = .file(file)
        }

        var head: String {
            var head = "Content-Disposition: form-data; name=\"\(Self.escaped(name))\""
            if let fileName { head += "; filename=\"\(Self.escaped(fileName))\"" }
            // A line break could inject another field.
            if let contentType { head += "\r\nContent-Type: \(contentType.filter { !$0.isNewline })" }
            return head + "\r\n\r\n"
        }

        private static func escaped(_ text: String) -> String {
            var result = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": result += "%22"
                case "\r": result += "%0D"
                case "\n": result += "%0A"
                default: result.unicodeScalars.append(scalar)
                }
            }
            return result
        }
    }

    /// Creates a body from fields and files, as `multipart/form-data`: RFC 7578, with names escaped as browsers do.
    ///
    /// Memory use stays small however large the files are: they are read while they are sent. The length is announced.
    ///
    /// - Parameters:
    ///   - parts: The parts, in order; a name can occur several times.
    ///   - boundary: The separator of the parts, which must not occur in them; by default, random. At most 70
    ///     characters, as RFC 2046 requires.
    public static func multipart(_ parts: [Part], boundary: String = "deferred-\(UUID().uuidString)") -> HTTPBody {
        var pieces: [Piece] = []
        var text = Data()
        for part in parts {
            text += Data("--\(boundary)\r\n\(part.head)".utf8)
            switch part.content {
            case .data(let data):
                text += data
            case .file:
                pieces += [.data(text), part.content]
                text = Data()
            }
            text += Data("\r\n".utf8)
        }
        text += Data("--\(boundary)--\r\n".utf8)
        return HTTPBody(pieces + [.data(text)], contentType: "multipart/form-data; boundary=\(parameter(boundary))")
    }

    /// Formats a parameter's value as a token or, if it isn't one, as a quoted string: RFC 9110, section 5.6.6.
    private static func parameter(_ value: String) -> String {
        HTTPToken.isValid(value) ? value : FieldList.quoted(value)
    }
}
