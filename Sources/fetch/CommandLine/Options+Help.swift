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
          -o, --output FILE    With one URL, and unless FILE is a directory or ends
                               with "/": save it as FILE.
          -o -                 With one URL: print the contents, and no progress.
          -i, --input FILE     Read URLs from FILE, or from standard input if FILE is
                               "-": one URL per line, optionally with a tab and a file
                               name after it. Lines that begin with "#" are skipped.
          -n, -m, --max N      Download up to N files at a time, 1 to 100. Default: 4.
              --limit-rate N   Receive up to N bytes a second of each file, such as
                               500k or 1.5M. Over libcurl only.
              --checksum SUM   With one URL: give the file its name only if it has
                               this checksum, sha256: and 64 hexadecimal digits. With
                               another one, it stays NAME.unverified.
              --retries N      Retry a failed download up to N times. Default: 4.
              --timeout S      Wait up to S seconds for a silent server. Default: 30.

          -X, --request NAME   Use the method NAME, such as PUT. Default: GET, or POST
                               with a body. POST, PATCH and unknown methods are retried
                               only with a header Idempotency-Key.
          -d, --data TEXT      Send TEXT as the body, or the file after "@", or standard
                               input for "@-", unchanged. Several are joined with "&".
                               The type is that of a form; change it with --header.
              --form N=VALUE   Send a form with the field N, or with N=@FILE a file, as
                               multipart/form-data. Repeat it for further fields.
          -H, --header 'N: V'  Send this header with every request.
          -u, --user N:PASS    Log in with the name N and a password, with every
                               request. Redirects don't carry them to other servers.
              --digest         Send a proof of the password instead, when asked to.
              --proxy URL      Use this proxy (http, https or socks5h) for everything,
                               and not those of http_proxy, https_proxy and no_proxy.
              --cacert FILE    Trust only the authorities in FILE, in PEM format.
              --engine NAME    Use urlsession, libcurl (on Linux only), or automatic,
                               the default: the better one for the platform.
              --cache DIR      Keep in DIR what servers allow to be kept, and take it
                               from there the next time, at once or if it hasn't
                               changed. DIR is for this alone, and becomes yours alone.

          -I, --head           Ask for the head alone, and print it.
              --include        Print the heads of responses, too.
              --json           Print a line of JSON for each file, with url, file,
                               status, bytes, seconds, resumed and error.
          -v, --verbose        Print the events and times of requests to standard error.
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

        Until a file is complete, its bytes are in NAME.partial, or with --checksum in
        NAME.unverified.partial. Run the same command again to resume; a file beside it,
        NAME.partial.validator, records which version of the file they belong to.
        Temporary failures (no connection, a truncated body, a timeout, or status 408,
        429, 500, 502, 503 or 504) are retried after growing pauses, or when the server
        asks for it, but not if that is in more than ten minutes; meanwhile, another
        file takes the place. With -o -, a body that breaks off is not asked for again.
        Ctrl-C stops all downloads and keeps what can be resumed, but for the
        demonstration, which has another server each time. A second Ctrl-C exits
        immediately.

        If standard output is not a terminal, or if TERM is dumb or not set, only one
        line for each finished file is printed. NO_COLOR turns colours off.

        Exit status: 0 if all files are complete; 1 if some failed, with one line each
        on standard error, or if standard output can't be written; 2 if the command line
        is not valid; 130 after Ctrl-C (129 when the terminal closed, 143 after
        SIGTERM).

          grep -o 'https://[^"]*[.]pdf' page.html | fetch --input -

        """
}
