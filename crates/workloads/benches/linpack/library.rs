//! A BLAS library that is there as a shared object: its `dgemm_` and `dgesv_` (Fortran's
//! calling convention, 32-bit integers), called through dlopen(3).

#![allow(unsafe_code)] // dlopen(3), dlsym(3), and calls of what they find.

use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::path::Path;

use proofmark_engine::{monotonic, pin_to};
use rustix::thread::Pid;

/// As long as our workloads multiply small matrices before each trial.
const WARM_S: f64 = 3e-3;
/// Of the small matrix each thread has about a square of this side: enough to be used at all.
const WARM_SIDE: usize = 128;

type SetThreads = unsafe extern "C" fn(c_int);
type GetThreads = unsafe extern "C" fn() -> c_int;
/// transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, lengths of the words.
type Dgemm = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_int,
    *const c_int,
    *const c_int,
    *const f64,
    *const f64,
    *const c_int,
    *const f64,
    *const c_int,
    *const f64,
    *mut f64,
    *const c_int,
    usize,
    usize,
);
/// n, nrhs, A, lda, ipiv, B, ldb, info.
type Dgesv = unsafe extern "C" fn(
    *const c_int,
    *const c_int,
    *mut f64,
    *const c_int,
    *mut c_int,
    *mut f64,
    *const c_int,
    *mut c_int,
);

/// How a library is found and asked.
pub struct Kind {
    pub name: &'static str,
    /// Environment variable that holds its path.
    pub variable: &'static str,
    usual: &'static [&'static str],
    /// A library that it loads itself, and ends the process if it cannot.
    needs: Option<&'static str>,
    set_threads: &'static CStr,
    get_threads: &'static CStr,
    version: fn(&Object) -> Option<String>,
    /// Whether the threads that it starts are pinned here, since it does not do so.
    pinned_here: bool,
}

/// OpenBLAS first: it starts its threads when it is loaded, as many as the loading thread
/// may use CPUs, and MKL's first call pins that thread.
pub const KINDS: [Kind; 2] = [
    Kind {
        name: "OpenBLAS",
        variable: "PROOFMARK_OPENBLAS",
        usual: &["libopenblas.so.0", "libopenblas.so"],
        needs: None,
        set_threads: c"openblas_set_num_threads",
        get_threads: c"openblas_get_num_threads",
        version: openblas_version,
        pinned_here: true,
    },
    Kind {
        name: "MKL",
        variable: "PROOFMARK_MKL",
        usual: &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"],
        needs: Some("libiomp5.so"),
        set_threads: c"MKL_Set_Num_Threads",
        get_threads: c"MKL_Get_Max_Threads",
        version: mkl_version,
        pinned_here: false,
    },
];

fn openblas_version(object: &Object) -> Option<String> {
    type Get = unsafe extern "C" fn() -> *const c_char;
    let config = object.find(c"openblas_get_config")?;
    let core = object.find(c"openblas_get_corename")?;
    let text = |symbol| {
        // SAFETY: both are declared so, and return a string that lives on.
        unsafe { CStr::from_ptr(std::mem::transmute::<*mut c_void, Get>(symbol)()) }
            .to_string_lossy()
    };
    Some(format!("{}, its code for {}", text(config), text(core)))
}

fn mkl_version(object: &Object) -> Option<String> {
    type Get = unsafe extern "C" fn(*mut c_char, c_int);
    let symbol = object.find(c"MKL_Get_Version_String")?;
    let mut text = [0_u8; 256];
    // SAFETY: it is declared so, and writes no more than its arguments say; the last zero stays.
    unsafe { std::mem::transmute::<*mut c_void, Get>(symbol)(text.as_mut_ptr().cast(), 255) };
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    Some(text.to_string_lossy().trim_end().to_owned())
}

/// What dlopen(3) returns; never closed, since the library's threads live on.
struct Object(*mut c_void);

impl Object {
    fn open(name: &str) -> Result<Self, String> {
        let path = CString::new(name).map_err(|e| e.to_string())?;
        // SAFETY: the string ends with a zero; what the library runs when it is loaded is its
        // own to answer for.
        let object = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if !object.is_null() {
            return Ok(Self(object));
        }
        // SAFETY: a call that fails leaves a string that lives until the next one.
        let why = unsafe { libc::dlerror() };
        if why.is_null() {
            return Err(format!("{name} cannot be loaded"));
        }
        // SAFETY: not null, so such a string.
        Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned())
    }

    fn find(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the object is open and the string ends with a zero.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!symbol.is_null()).then_some(symbol)
    }

    fn need(&self, name: &CStr) -> Result<*mut c_void, String> {
        self.find(name).ok_or_else(|| format!("it has no {}", name.to_string_lossy()))
    }
}

/// A loaded library.
pub struct Library {
    pub name: &'static str,
    pub version: String,
    dgemm: Dgemm,
    dgesv: Dgesv,
    set_threads: SetThreads,
    get_threads: GetThreads,
}

/// Threads of this process, those of libraries included, by id.
fn tasks() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let id = |e: std::fs::DirEntry| e.file_name().to_str().and_then(|n| n.parse().ok());
    let mut ids: Vec<i32> = entries.filter_map(id).collect();
    ids.sort_unstable();
    ids
}

/// Has MKL's threads run on these CPUs, one on each, in this order. To be called before any
/// thread is started.
pub fn place_threads(cpus: &[u32]) {
    const VARIABLE: &str = "KMP_AFFINITY";
    if std::env::var_os(VARIABLE).is_none() {
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let places = format!("granularity=fine,proclist=[{}],explicit", list.join(","));
        // SAFETY: no other thread runs that could read the environment.
        unsafe { std::env::set_var(VARIABLE, places) };
    }
}

impl Library {
    /// Loads it, and lets it start its threads, one on each of these CPUs; its first thread is
    /// the one that calls.
    ///
    /// # Errors
    /// Why it is not available.
    pub fn load(kind: &Kind, cpus: &[u32]) -> Result<Self, String> {
        let before = tasks();
        let given = std::env::var_os(kind.variable).filter(|path| !path.is_empty());
        let names: Vec<OsString> = match &given {
            Some(path) => vec![path.clone()],
            None => kind.usual.iter().map(OsString::from).collect(),
        };
        if let Some(needed) = kind.needs {
            let beside =
                given.as_ref().and_then(|path| Some(Path::new(path).parent()?.join(needed)));
            let beside = beside.as_deref().and_then(Path::to_str).unwrap_or(needed);
            Object::open(beside).or_else(|_| Object::open(needed))?;
        }
        let mut object = Err(String::new());
        for name in &names {
            object = object.or_else(|_| Object::open(&name.to_string_lossy()));
        }
        let object = object?;
        // SAFETY: these are the declarations of the functions of these names.
        let library = unsafe {
            use std::mem::transmute;
            Self {
                name: kind.name,
                version: (kind.version)(&object).unwrap_or_else(|| "of unknown version".to_owned()),
                dgemm: transmute::<*mut c_void, Dgemm>(object.need(c"dgemm_")?),
                dgesv: transmute::<*mut c_void, Dgesv>(object.need(c"dgesv_")?),
                set_threads: transmute::<*mut c_void, SetThreads>(object.need(kind.set_threads)?),
                get_threads: transmute::<*mut c_void, GetThreads>(object.need(kind.get_threads)?),
            }
        };
        library.set_threads(cpus.len());
        library.warm()?;
        if kind.pinned_here {
            let new = tasks().into_iter().filter(|id| !before.contains(id));
            for (id, cpu) in new.zip(cpus.iter().skip(1)) {
                // Where that is not allowed it runs unpinned.
                let _ = pin_to(Pid::from_raw(id), &[*cpu]);
            }
        }
        Ok(library)
    }

    /// How many threads its calls use from now on, of this many asked for.
    pub fn set_threads(&self, threads: usize) -> usize {
        // SAFETY: both are declared so.
        unsafe {
            (self.set_threads)(threads as c_int);
            (self.get_threads)() as usize
        }
    }

    /// Wakes its threads, as many as its calls use, and has them multiply small matrices of
    /// zeros for [`WARM_S`]: the timed call that follows finds them spinning, and the cores at
    /// the clock of that load.
    pub fn warm(&self) -> Result<(), String> {
        // SAFETY: declared so.
        let threads = unsafe { (self.get_threads)() } as f64;
        let n = threads.sqrt().ceil() as usize * WARM_SIDE;
        let a = vec![0.0; n * n];
        let mut c = a.clone();
        self.dgemm(n, n, &a, &a, &mut c)?; // They may have slept: what that takes is not counted.
        let start = monotonic();
        while monotonic() - start < WARM_S {
            self.dgemm(n, n, &a, &a, &mut c)?;
        }
        Ok(())
    }

    /// C = A * B of order n, columns `ld` numbers apart.
    pub fn dgemm(
        &self,
        n: usize,
        ld: usize,
        a: &[f64],
        b: &[f64],
        c: &mut [f64],
    ) -> Result<(), String> {
        let enough = |length: usize| n <= ld && length >= ld * n;
        if !(enough(a.len()) && enough(b.len()) && enough(c.len())) {
            return Err("a matrix is too small".to_owned());
        }
        let (order, lead, one, zero) = (n as c_int, ld as c_int, 1.0, 0.0);
        let (plain, n, ld) = (c"N".as_ptr(), &raw const order, &raw const lead);
        let (one, zero) = (&raw const one, &raw const zero);
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        // SAFETY: declared so; the matrices are as large as its arguments say, and nobody else uses C.
        // The lengths at the end are for Fortran, which C leaves unread.
        unsafe {
            (self.dgemm)(plain, plain, n, n, n, one, a, ld, b, ld, zero, c, ld, 1, 1);
        }
        Ok(())
    }

    /// Solves A * x = b of order n, columns `ld` numbers apart; A becomes its factors and
    /// b becomes x.
    pub fn dgesv(
        &self,
        n: usize,
        ld: usize,
        a: &mut [f64],
        pivots: &mut [c_int],
        b: &mut [f64],
    ) -> Result<(), String> {
        if n > ld || a.len() < ld * n || pivots.len() < n || b.len() < n {
            return Err("a matrix is too small".to_owned());
        }
        let (order, lead, one, mut info) = (n as c_int, ld as c_int, 1, 0);
        let (n, ld, one, reported) =
            (&raw const order, &raw const lead, &raw const one, &raw mut info);
        let (a, pivots, b) = (a.as_mut_ptr(), pivots.as_mut_ptr(), b.as_mut_ptr());
        // SAFETY: declared so; what it writes is as large as its arguments say, and nobody else's.
        unsafe {
            (self.dgesv)(n, one, a, ld, pivots, b, n, reported);
        }
        if info == 0 { Ok(()) } else { Err(format!("dgesv returns info {info}")) }
    }
}
