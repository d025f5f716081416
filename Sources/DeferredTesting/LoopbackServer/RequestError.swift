/// A refusal of a malformed or unsupported request: the status of the answer, and the text of its body.
struct RequestError: Error {
    let status: Int
    let explanation: String

    static func malformed(_ explanation: String) -> RequestError {
        RequestError(status: 400, explanation: explanation)
    }
}
