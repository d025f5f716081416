import Foundation

Program().run(Array(CommandLine.arguments.dropFirst()))
// Serves the main queue on the main thread; `dispatchMain` would end that thread.
RunLoop.main.run()
