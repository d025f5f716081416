import Dispatch

Program().run(Array(CommandLine.arguments.dropFirst()))
dispatchMain()
