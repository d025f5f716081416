internal import DeferredNetworking
public import Foundation

extension HTTPBody {
    /// Creates a body from form fields, as `application/x-www-form-urlencoded`: the WHATWG URL standard, section 5.2.
    ///
    /// - Parameter fields: The fields, in order; a name can occur several times.
    public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
        form(fields.map { URLQueryItem(name: $0.key, value: $0.value) })
    }

    /// Creates a body from form fields. See ``form(_:)-(KeyValuePairs<String,String>)``.
    public static func form(_ fields: [URLQueryItem]) -> HTTPBody {
        let text = fields.map { encoded($0.name) + "=" + encoded($0.value ?? "") }.joined(separator: "&")
        return .data(Data(text.utf8), contentType: "application/x-www-form-urlencoded")
    }

    private static func encoded(_ text: String) -> String {
        PercentEncoding.encode(text, allowing: PercentEncoding.form.union(" "))
            .replacingOccurrences(of: " ", with: "+")
    }
}
