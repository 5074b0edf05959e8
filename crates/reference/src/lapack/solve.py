"""Times dgesv_ or dgemm_ of a BLAS library, once, and checks what it worked out.

solve.py LIBRARY try                    what the library is
solve.py LIBRARY dgesv N THREADS ISA    solves one system of N equations
solve.py LIBRARY dgemm N THREADS ISA    multiplies two matrices of N rows

ISA: "auto", what the library takes by itself, or "avx2+fma". Lines "key: value"; a word of what
is wrong on standard error otherwise. Only what comes with Python is needed: no numpy.
"""

import array, ctypes, mmap, os, random, struct, sys, threading, time
from ctypes import byref, c_char, c_char_p, c_double, c_int, c_size_t, c_void_p

# A prime, more than any N: columns of a matrix are pieces of one circle of numbers, which begin
# at places of their own.
CIRCLE = 1048573
HUGE = 2 << 20
WARM_S = 0.3
EPS = 2.0**-53


def fail(why):
    sys.exit(f"{sys.argv[1]}: {why}")


def load(names, folders=()):
    """The first that can be loaded, its symbols before those of libraries loaded later."""
    paths = [os.path.join(f, n) for f in folders if f for n in names]
    for name in [*names, *paths]:
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            pass
    return None


def text_from(function, *arguments):
    function.restype = c_char_p
    return " ".join((function(*arguments) or b"").decode("ascii", "replace").split())


def address(function):
    return ctypes.cast(function, c_void_p).value


def mapped():
    """What is where in memory: from, to, rights, file."""
    with open("/proc/self/maps") as maps:
        for words in (line.split(maxsplit=5) for line in maps):
            start, end = (int(word, 16) for word in words[0].split("-"))
            yield start, end, words[1], words[5].strip() if len(words) > 5 else ""


def calls(function, other):
    """Whether the library that holds one has been linked to the other."""
    holds = [file for start, end, _, file in mapped() if start <= address(function) < end]
    pointer = struct.pack("P", address(other))
    return any(
        pointer in ctypes.string_at(start, end - start)
        for start, end, rights, file in mapped()
        if file in holds and rights.startswith("r") and "x" not in rights
    )


class OpenBlas:
    names = ["libopenblas.so.0", "libopenblas.so"]
    folders = []

    def __init__(self, blas):
        self.blas, self.lapack = blas, blas if hasattr(blas, "dgesv_") else None

    def version(self):
        words = text_from(self.blas.openblas_get_config).split()
        return words[1] if words[:1] == ["OpenBLAS"] and len(words) > 1 else "unknown"

    def core(self):
        return text_from(self.blas.openblas_get_corename)

    def threads(self):
        return self.blas.openblas_get_num_threads()

    def takes(self, isa):
        return isa == "avx2+fma" and self.core() == "Haswell"


class Mkl:
    names = ["libmkl_rt.so", "libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1"]
    root = os.environ.get("MKLROOT") or ""
    folders = [root and root + "/lib", root and root + "/lib/intel64", sys.prefix + "/lib"]

    def __init__(self, blas):
        self.blas = self.lapack = blas

    def version_text(self):
        text = ctypes.create_string_buffer(400)
        self.blas.mkl_get_version_string(text, c_int(399))
        return text.value.decode("ascii", "replace")

    def version(self):
        words = self.version_text().replace("-", " ").split()
        after = words[words.index("Version") + 1 :] if "Version" in words else []
        return after[0] if after else "unknown"

    def core(self):
        return ""

    def threads(self):
        return self.blas.MKL_Get_Max_Threads()

    def takes(self, isa):
        return isa == "avx2+fma" and self.blas.MKL_Enable_Instructions(c_int(2)) == 1


class Blis:
    names = ["libblis.so.4", "libblis.so.3", "libblis.so"]
    folders = []

    def __init__(self, blas):
        # It has no LAPACK of its own. Netlib's calls the BLAS that was loaded first; OpenBLAS's and
        # ATLAS's call their own insides, and go by the same name.
        self.blas, lapack = blas, load(["liblapack.so.3"])
        netlib = lapack and not any(hasattr(lapack, n) for n in ("dgetrf_single", "ATL_dgetrf"))
        self.lapack = lapack if netlib and calls(lapack.dgesv_, blas.dgemm_) else None

    def version(self):
        said = text_from(self.blas.bli_info_get_version_str)
        if not self.lapack:
            return f"{said}, no LAPACK that calls it"
        parts = [c_int(), c_int(), c_int()]
        self.lapack.ilaver_(*map(byref, parts))
        return f"{said}, LAPACK " + ".".join(str(part.value) for part in parts)

    def core(self):
        return text_from(self.blas.bli_arch_string, self.blas.bli_arch_query_id())

    def threads(self):
        self.blas.bli_thread_get_num_threads.restype = c_size_t
        return self.blas.bli_thread_get_num_threads()

    def takes(self, isa):
        return isa == "avx2+fma" and self.core() == "haswell"


LIBRARIES = {"openblas": OpenBlas, "mkl": Mkl, "blis": Blis}


class Numbers:
    """Random numbers in [-1/2, 1/2], without an end: a circle of them, over and over."""

    def __init__(self, values):
        self.circle = array.array("d", values)
        self.at = self.circle.buffer_info()[0]

    def sizes(self):
        """The same without their signs."""
        return Numbers(map(abs, self.circle))

    def fill(self, to, first, count):
        """Writes so many of them, from that one on."""
        done = 0
        while done < count:
            place = (first + done) % CIRCLE
            some = min(count - done, CIRCLE - place)
            ctypes.memmove(to + 8 * done, self.at + 8 * place, 8 * some)
            done += some


def random_numbers():
    return Numbers(random.random() - 0.5 for _ in range(CIRCLE))


class Memory:
    """Numbers in huge pages, as our own lie, first touched by threads on all CPUs."""

    def __init__(self, count):
        size = 8 * count + HUGE
        self.map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self.map.madvise(mmap.MADV_HUGEPAGE)
            except OSError:
                pass  # A workload without them.
        start = ctypes.addressof(c_char.from_buffer(self.map))
        self.at, self.count = start + -start % HUGE, count

    def each(self, work):
        """Calls it with (first, count) of the part of each CPU, on that CPU."""
        cpus = sorted(os.sched_getaffinity(0))
        ends = [self.count * i // len(cpus) for i in range(len(cpus) + 1)]

        def part(i):
            os.sched_setaffinity(0, {cpus[i]})
            work(ends[i], ends[i + 1] - ends[i])

        parts = [threading.Thread(target=part, args=(i,)) for i in range(len(cpus))]
        for thread in parts:
            thread.start()
        for thread in parts:
            thread.join()

    def fill(self, numbers, first):
        self.each(lambda at, count: numbers.fill(self.at + 8 * at, first + at, count))
        return self

    def clear(self):
        self.each(lambda at, count: ctypes.memset(self.at + 8 * at, 0, 8 * count))
        return self

    def values(self):
        return (c_double * self.count).from_address(self.at)

    def greatest(self):
        values = self.values()
        # What is not a number is not the greatest by itself.
        return float("nan") if any(v != v for v in values) else max(map(abs, values))


class Blas:
    """Calls of the library, in words of this file."""

    def __init__(self, library):
        self.blas, self.lapack = library.blas, library.lapack

    def product(self, n, lda, a, b, c):
        """c = a b."""
        size, lead, one, none = c_int(n), c_int(lda), c_double(1.0), c_double(0.0)
        self.blas.dgemm_(
            b"N", b"N", byref(size), byref(size), byref(size), byref(one), c_void_p(a.at),
            byref(lead), c_void_p(b.at), byref(lead), byref(none), c_void_p(c.at), byref(lead),
        )

    def add(self, scale, rows, columns, a, lda, x, y):
        """y += scale a x; a and x are addresses."""
        one = c_int(1)
        self.blas.dgemv_(
            b"N", byref(c_int(rows)), byref(c_int(columns)), byref(c_double(scale)), c_void_p(a),
            byref(c_int(lda)), c_void_p(x), byref(one), byref(c_double(1.0)), c_void_p(y.at),
            byref(one),
        )

    def solve(self, n, lda, a, b):
        """Writes a's factors over a, and the solution over b."""
        order, info, one = (c_int * n)(), c_int(), c_int(1)
        size, lead = c_int(n), c_int(lda)
        self.lapack.dgesv_(
            byref(size), byref(one), c_void_p(a.at), byref(lead), order, c_void_p(b.at),
            byref(size), byref(info),
        )
        if info.value != 0:
            fail(f"wrong: dgesv says info = {info.value} of a random matrix")


def leading(n):
    """Whole lines of 64 bytes, and no power of two, by which columns would share cache sets."""
    lda = (n + 7) // 8 * 8
    return lda + 8 if lda % 256 == 0 else lda


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def warm(work):
    """Does small work until clocks, threads and the library are ready."""
    end = time.perf_counter() + WARM_S
    while True:
        work()
        if time.perf_counter() >= end:
            return


def dgesv(blas, n):
    lda, numbers = leading(n), random_numbers()
    some = min(n, 1000)
    a, b = Memory(some * some), Memory(some)
    warm(lambda: blas.solve(some, some, a.fill(numbers, 0), b.fill(numbers, some * some)))
    a, b = Memory(lda * n).fill(numbers, 0), Memory(n).fill(numbers, lda * n)
    yield "lda", lda
    yield "alignment", a.at & -a.at
    yield "seconds", timed(lambda: blas.solve(n, lda, a, b))
    # A x - b and the sums of rows, some columns of A at a time, made again.
    difference, sums = Memory(n).fill(numbers, lda * n), Memory(n).clear()
    right, ones, sizes = difference.greatest(), Memory(n), numbers.sizes()
    ones.values()[:] = [1.0] * n
    some = max(1, min(n, (64 << 20) // (8 * lda)))
    columns = Memory(lda * some)
    for first in range(0, n, some):
        count = min(some, n - first)
        columns.fill(numbers, lda * first)
        blas.add(-1.0, n, count, columns.at, lda, b.at + 8 * first, difference)
        columns.fill(sizes, lda * first)
        blas.add(1.0, n, count, columns.at, lda, ones.at, sums)
    residual = difference.greatest()
    yield "residual", residual
    scale = EPS * (sums.greatest() * b.greatest() + right) * n
    yield "normalised residual", residual / scale


def dgemm(blas, n):
    lda, numbers = leading(n), random_numbers()
    a, b, c = (Memory(lda * n) for _ in range(3))
    a.fill(numbers, 0), b.fill(numbers, lda * n), c.clear()
    warm(lambda: blas.product(min(n, 1000), lda, a, b, c))
    yield "lda", lda
    yield "alignment", a.at & -a.at
    yield "seconds", timed(lambda: blas.product(n, lda, a, b, c))
    # C v and A (B v) of a random vector: a wrong element of C makes its row differ.
    v, w, difference = Memory(n), Memory(n).clear(), Memory(n).clear()
    v.values()[:] = [random.random() - 0.5 for _ in range(n)]
    blas.add(1.0, n, n, b.at, lda, v.at, w)
    blas.add(1.0, n, n, a.at, lda, w.at, difference)
    blas.add(-1.0, n, n, c.at, lda, v.at, difference)
    found, most = difference.greatest(), (n**1.5 + 8.0) * 2 * EPS
    if not found <= most:
        fail(f"wrong product: C v is {found:e} off A (B v); rounding explains {most:e}")
    yield "difference", found


def main(name, operation, n=0, threads=1, isa="auto"):
    kind = LIBRARIES[name]
    found = load(kind.names, kind.folders)
    if not found:
        fail("no such library")
    library, n, threads = kind(found), int(n), int(threads)
    if isa != "auto" and not library.takes(isa):
        fail(f"it does not keep to {isa}")
    lines = {"library": name, "version": library.version(), "core": library.core() or "unknown"}
    if operation != "try":
        if operation == "dgesv" and not library.lapack:
            fail("no LAPACK that calls it")
        if library.threads() != threads:
            fail(f"it takes {library.threads()} threads, not {threads}")
        lines.update(started=int(time.time()), operation=operation, n=n, threads=threads)
        lines.update({"dgesv": dgesv, "dgemm": dgemm}[operation](Blas(library), n))
    else:
        Blas(library).product(1, 1, *(Memory(1).clear() for _ in range(3)))
    for key, value in lines.items():
        print(f"{key}: {value}")


main(*sys.argv[1:])
