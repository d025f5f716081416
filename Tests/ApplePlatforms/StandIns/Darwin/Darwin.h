#include <TargetConditionals.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/socket.h>
#include <sys/ioctl.h>
#include <sys/ttycom.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/time.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <math.h>
#include <limits.h>
#include <locale.h>
#include <dlfcn.h>
#include <spawn.h>
#include <os/lock.h>
#include <mach/mach.h>
#include <malloc/malloc.h>
/* util.h, which these headers lack. */
int openpty(int *, int *, char *, struct termios *, struct winsize *);
/* Called by the interface of Synchronization made on Linux; its declarations are the same on macOS. */
unsigned int _swift_stdlib_gettid(void);
unsigned int _swift_stdlib_futex_lock(unsigned int *);
unsigned int _swift_stdlib_futex_trylock(unsigned int *);
unsigned int _swift_stdlib_futex_unlock(unsigned int *);
