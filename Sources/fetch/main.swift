import Foundation

Program().run(Array(CommandLine.arguments.dropFirst()))
// Keeps the main queue on the main thread, where `dispatchMain` would give it up.
RunLoop.main.run()
