/// What the process says of itself at its end.
enum ExitCode {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 2

    /// As shells have it: 130 for SIGINT.
    static func stopped(by signal: Int32) -> Int32 { 128 + signal }
}
