/// What is wrong with a request: the status it is answered with, and the reason, for the answer's body.
struct RequestError: Error {
    let status: Int
    let explanation: String

    static func malformed(_ explanation: String) -> RequestError {
        RequestError(status: 400, explanation: explanation)
    }
}
