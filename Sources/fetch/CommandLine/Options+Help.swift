extension Options {
    /// The text that `--help` prints.
    static let help = """
        Usage: fetch [OPTION]... [URL]...

        Downloads files in parallel, with a progress bar for each file and a line for
        the total. Without URLs, it demonstrates this: it starts a server on 127.0.0.1
        with four files of different sizes and speeds, and downloads them.

          -o, --output DIR     Save the files in DIR, which is created if necessary.
                               Default: the current directory; without URLs, a new
                               temporary one.
          -i, --input FILE     Read URLs from FILE, or from standard input if FILE is
                               "-": one URL per line, optionally with a tab and a file
                               name after it. Lines that begin with "#" are skipped.
          -n, -m, --max N      Download up to N files at a time, 1 to 100. Default: 4.
          -H, --header 'N: V'  Send this header with every request.
              --retries N      Retry a failed download up to N times. Default: 4.
              --timeout S      Wait up to S seconds for a silent server. Default: 30.
              --engine NAME    Use urlsession, libcurl (on Linux only), or automatic,
                               the default: the better one for the platform.
              --cache DIR      Keep in DIR what servers allow to be kept, and take it
                               from there the next time, at once or if it hasn't
                               changed. DIR is for this alone, and becomes yours alone.
          -q, --quiet          Print only errors.
          -h, --help           Print this help and exit.
          -V, --version        Print the version and exit.
          --                   Treat all following arguments as URLs.

        URLs begin with http:// or https://. A URL that is given twice is downloaded
        once. User names and passwords in URLs are never printed.

        A file is named after the last part of its URL's path, or index.html. If several
        files would get the same name, a tag made from the URL is added to each of them;
        it is the same on every run. A complete file of that name is replaced. Files
        have the time of their download, not that of the server's file.

        Until a file is complete, its bytes are in NAME.partial. Run the same command
        again to resume; NAME.partial.validator records which version of the file they
        belong to. Temporary failures (no connection, a truncated body, a timeout, or
        status 408, 429, 500, 502, 503 or 504) are retried after growing pauses, or when
        the server asks for it; meanwhile, another file takes the place. Ctrl-C stops
        all downloads and keeps what can be resumed, but for the demonstration, which
        has another server each time. A second Ctrl-C exits immediately.

        If standard output is not a terminal, or if TERM=dumb, only one line for each
        finished file is printed. NO_COLOR turns colours off.

        Exit status: 0 if all files are complete; 1 if some failed, with one line each
        on standard error, or if standard output can't be written; 2 if the command line
        is not valid; 130 after Ctrl-C (129 when the terminal closed, 143 after
        SIGTERM).

          grep -o 'https://[^"]*[.]pdf' page.html | fetch --input -

        """
}
