import Foundation

Program().run(CommandLine.arguments)
// Serves the main queue on the main thread; `dispatchMain` would end that thread.
RunLoop.main.run()
