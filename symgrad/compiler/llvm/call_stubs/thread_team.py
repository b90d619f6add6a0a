"""IR of calls in several threads: a call is cut into pieces, which the caller and worker threads take.

Passing a piece to another thread through Python takes 30 us: two locks, the GIL, NumPy's dispatch. Here a job is a
record in the caller's stack frame. Each worker has a word of its own, in which it waits for the address of a job, and
every free thread takes the next piece. That takes a microsecond if a worker is awake. A worker that sleeps or is
preempted delays nothing, because the caller takes all pieces that no other thread has taken.

The word of a worker is 0 while the worker has no job. A caller sets the word to the address of a job; the worker adds 1
when it begins, and resets the word to 0 when no pieces are left. At the end the caller withdraws the job from workers
that have not begun, and waits until no word is the address of its job plus 1: then all pieces are done and no worker
refers to the job.
"""

from __future__ import annotations

from symgrad.compiler.llvm.text.module import ATTRIBUTES
from symgrad.compiler.llvm.text.scratch_memory import SCRATCH, SCRATCH_DECLARATIONS
from symgrad.compiler.llvm.text.templates import fill_template, load_fields, store_fields

LOOP = "team.loop"
"""The function: the signature of an inner loop, with a record of `SHARE` as its last argument."""

WORK = "team.work"
"""The function that a worker thread runs: ``void(void *team)``."""

PAUSE = "team.pause"
"""The function that spins as long as a worker does before it sleeps: ``void(void *team, long long turns)``."""

LINE_BYTES = 128
"""The unit of false sharing, in bytes: two cache lines of x86-64, which are fetched together, or one cache line of
Apple's processors. A team is one unit with `TEAM`, and one unit for each worker with its job, whether it sleeps, and
the lock on which it sleeps.
"""

SHARE = (
    ("loop", "ptr"),  # the inner loop, and its last argument
    ("cell", "ptr"),
    ("nargs", "i64"),
    ("least", "i64"),  # minimum number of elements of a piece
    ("helpers", "i64"),  # maximum number of workers that help the caller
    ("team", "ptr"),  # address of the pointer to the team, or null
)

TEAM = (
    ("count", "i64"),  # number of workers
    ("room", "i64"),  # capacity: the most workers
    ("missed", "i64"),  # whether a call could have used more workers
    ("turns", "i64"),  # iterations that a worker spins for a job before it sleeps
    ("debt", "i64"),  # pieces of calls that found a worker asleep and did not wake it
    ("due", "i64"),  # number of such pieces for which a worker is woken
    ("sleep", "ptr"),  # functions: PyThread_acquire_lock, PyThread_release_lock, the system's yield
    ("wake", "ptr"),
    ("yield", "ptr"),
)

_CONSTANT_FIELDS = {"room", "turns", "due", "sleep", "wake", "yield"}
"""Fields that no thread writes."""

_JOB = (
    ("loop", "ptr"),
    ("cell", "ptr"),
    ("args", "ptr"),
    ("steps", "ptr"),
    ("nargs", "i64"),
    ("least", "i64"),
    ("most", "i64"),
    ("n", "i64"),
    ("parts", "i64"),
)  # followed by a word of two halves: how much has been taken from the front, and how much from the back

_PIECES_PER_THREAD = 2
"""The size of a piece is the number of remaining elements divided by the number of threads and by this, so that all
threads end at about the same time."""

_MAX_PIECE_RATIO = 16
"""The size of the largest piece in units of the smallest. It is limited so that a thread that is preempted delays the
other threads little. The results of such pieces are never written with streaming stores, which gain nothing with two
threads."""

_BURST = 32
"""After so many pauses, about a microsecond, a waiting thread yields its processor."""

_X86 = ("call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()")
_ARM = ("call void @llvm.aarch64.isb(i32 15)", "declare void @llvm.aarch64.isb(i32)")
_PAUSE_INSTRUCTIONS = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}
"""The pause instruction of spin loops and its declaration, by the first part of the target triple."""

# The spin loop, which counts down while it watches a condition. Every function has one such loop.
_SPIN_WAIT = """\
pause:
  ${pause}
  %turn.next = sub i64 %turn, 1
  %turn.part = and i64 %turn, ${burst}
  %tight = icmp ne i64 %turn.part, 0
  br i1 %tight, label %watch, label %give.way
give.way:
  %given = call i32 %yield()
  br label %watch
"""

# Pieces shrink with the number of elements that are left. The caller takes them from the front and workers from the
# back: in repeated calls on the same arrays each thread finds most of its elements in its own caches.
#
# Pieces begin at multiples of 32 elements and are counted in units of 32 (so there are less than 2**37 elements). No
# kernel has longer vectors, so only the last piece has a remainder.
_CODE = """\
define void @team.loop(ptr %args, ptr %dimensions, ptr %steps, ptr %share) #0 {
entry:
${share}
  %n = load i64, ptr %dimensions
  %pieces = sdiv i64 %n, %least
  %others = sub i64 %pieces, 1
  %few = icmp slt i64 %others, %helpers
  %wanted = select i1 %few, i64 %others, i64 %helpers
  %several = icmp sgt i64 %wanted, 0
  br i1 %several, label %look, label %alone
look:
  %record = load atomic ptr, ptr %team acquire, align 8
  %there = icmp ne ptr %record, null
  br i1 %there, label %write, label %alone
write:
${team}
  %threads = add i64 %wanted, 1
  %parts = mul i64 %threads, ${fraction}
  %most = mul i64 %least, ${most}
  %job = alloca i64, i64 ${job.words}, align 64
${job}
  %next.at = getelementptr i64, ptr %job, i64 ${next}
  store i64 0, ptr %next.at
  %job.word = ptrtoint ptr %job to i64
  %begun = or i64 %job.word, 1
  %claimed = alloca ptr, i64 %wanted
  %debt.at = getelementptr i64, ptr %record, i64 ${debt}
  %workers = load atomic i64, ptr %record acquire, align 8
  %full = icmp sgt i64 %workers, %room
  %present = select i1 %full, i64 %room, i64 %workers
  br label %search

search:
  %k = phi i64 [ 0, %write ], [ %k.next, %searched ]
  %got = phi i64 [ 0, %write ], [ %got.next, %searched ]
  %enough = icmp eq i64 %got, %wanted
  br i1 %enough, label %begin, label %left
left:
  %k.more = icmp slt i64 %k, %present
  br i1 %k.more, label %ask, label %too.few
ask:
  %k.next = add i64 %k, 1
  %offset = mul i64 %k.next, ${line}
  %worker = getelementptr i8, ptr %record, i64 %offset
  %asleep.at = getelementptr i64, ptr %worker, i64 1
  %dozes = load atomic i64, ptr %asleep.at monotonic, align 8
  %awake = icmp eq i64 %dozes, 0
  br i1 %awake, label %offer, label %weigh
weigh:
  %debt.before = atomicrmw add ptr %debt.at, i64 %pieces monotonic
  %debt.now = add i64 %debt.before, %pieces
  %is.due = icmp sge i64 %debt.now, %due
  br i1 %is.due, label %settle, label %few.or.none
settle:
  store atomic i64 0, ptr %debt.at monotonic, align 8
  br label %offer
offer:
  %asked = cmpxchg ptr %worker, i64 0, i64 %job.word seq_cst monotonic, align 8
  %free = extractvalue { i64, i1 } %asked, 1
  br i1 %free, label %claim, label %searched
claim:
  %claim.at = getelementptr ptr, ptr %claimed, i64 %got
  store ptr %worker, ptr %claim.at
  %more = add i64 %got, 1
  %asleep = load atomic i64, ptr %asleep.at seq_cst, align 8
  %sleeps = icmp ne i64 %asleep, 0
  br i1 %sleeps, label %rouse, label %searched
rouse:
  %slept = atomicrmw xchg ptr %asleep.at, i64 0 seq_cst
  %still = icmp ne i64 %slept, 0
  br i1 %still, label %release, label %searched
release:
  %lock.at = getelementptr ptr, ptr %worker, i64 2
  %lock = load ptr, ptr %lock.at
  call void %wake(ptr %lock)
  br label %searched
searched:
  %got.next = phi i64 [ %got, %offer ], [ %more, %claim ], [ %more, %rouse ], [ %more, %release ]
  br label %search
too.few:
  %missed.at = getelementptr i64, ptr %record, i64 ${missed}
  store atomic i64 1, ptr %missed.at monotonic, align 8
  br label %few.or.none
few.or.none:
  %some = icmp sgt i64 %got, 0
  br i1 %some, label %begin, label %alone

begin:
  call void @team.take(ptr %job, i1 false)
  br label %end
end:
  %e = phi i64 [ 0, %begin ], [ %e.next, %ended ]
  %e.more = icmp slt i64 %e, %got
  br i1 %e.more, label %withdraw, label %done
withdraw:
  %e.at = getelementptr ptr, ptr %claimed, i64 %e
  %helper = load ptr, ptr %e.at
  %withdrawn = cmpxchg ptr %helper, i64 %job.word, i64 0 acq_rel acquire, align 8
  %unread = extractvalue { i64, i1 } %withdrawn, 1
  br i1 %unread, label %ended, label %watch
watch:
  %turn = phi i64 [ ${burst}, %withdraw ], [ %turn.next, %pause ], [ %turn.next, %give.way ]
  %state = load atomic i64, ptr %helper acquire, align 8
  %busy = icmp eq i64 %state, %begun
  br i1 %busy, label %pause, label %ended
${wait}ended:
  %e.next = add i64 %e, 1
  br label %end
alone:
  call void %loop(ptr %args, ptr %dimensions, ptr %steps, ptr %cell)
  br label %done
done:
  ret void
}

define internal void @team.take(ptr %job, i1 %behind) #0 {
entry:
${job.fields}
  %next.at = getelementptr i64, ptr %job, i64 ${next}
  %dimension = alloca i64
  %scratch.size = mul i64 %nargs, 8
${scratch}  %n.up = add i64 %n, 31
  %all = lshr i64 %n.up, 5
  %least.up = add i64 %least, 31
  %fewest = lshr i64 %least.up, 5
  %most.up = add i64 %most, 31
  %utmost = lshr i64 %most.up, 5
  br label %again
again:
  %start = load atomic i64, ptr %next.at monotonic, align 8
  br label %try
try:
  %ends = phi i64 [ %start, %again ], [ %seen, %size ]
  %front = and i64 %ends, 4294967295
  %back = lshr i64 %ends, 32
  %unbegun = sub i64 %all, %front
  %rest = sub i64 %unbegun, %back
  %any = icmp sgt i64 %rest, 0
  br i1 %any, label %size, label %done
size:
  %part = udiv i64 %rest, %parts
  %large = icmp sgt i64 %part, %utmost
  %at.most = select i1 %large, i64 %utmost, i64 %part
  %small = icmp slt i64 %at.most, %fewest
  %some = select i1 %small, i64 %fewest, i64 %at.most
  %last = icmp slt i64 %rest, %some
  %length = select i1 %last, i64 %rest, i64 %some
  %at.back = shl i64 %length, 32
  %step.on = select i1 %behind, i64 %at.back, i64 %length
  %to = add i64 %ends, %step.on
  %taking = cmpxchg ptr %next.at, i64 %ends, i64 %to monotonic monotonic, align 8
  %seen = extractvalue { i64, i1 } %taking, 0
  %taken = extractvalue { i64, i1 } %taking, 1
  br i1 %taken, label %begin, label %try
begin:
  %behind.end = sub i64 %all, %back
  %behind.begin = sub i64 %behind.end, %length
  %begin.at = select i1 %behind, i64 %behind.begin, i64 %front
  %from = shl i64 %begin.at, 5
  %most.left = sub i64 %n, %from
  %whole = shl i64 %length, 5
  %cut = icmp slt i64 %most.left, %whole
  %count = select i1 %cut, i64 %most.left, i64 %whole
  store i64 %count, ptr %dimension
  br label %place
place:
  %k = phi i64 [ 0, %begin ], [ %k.next, %place ]
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  %step = load i64, ptr %step.at
  %shift = mul i64 %step, %from
  %shifted = getelementptr i8, ptr %arg, i64 %shift
  %mine.at = getelementptr ptr, ptr %scratch, i64 %k
  store ptr %shifted, ptr %mine.at
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %nargs
  br i1 %k.more, label %place, label %compute
compute:
  call void %loop(ptr %scratch, ptr %dimension, ptr %steps, ptr %cell)
  br label %again
done:
  call void @free(ptr %heap)
  ret void
exhausted:
  call void @abort()
  unreachable
}

define void @team.work(ptr %record) #0 {
entry:
${team}
  %number = atomicrmw add ptr %record, i64 1 acq_rel
  %placed = icmp slt i64 %number, %room
  br i1 %placed, label %settle, label %leave
settle:
  %line = add i64 %number, 1
  %offset = mul i64 %line, ${line}
  %word = getelementptr i8, ptr %record, i64 %offset
  %asleep.at = getelementptr i64, ptr %word, i64 1
  %lock.at = getelementptr ptr, ptr %word, i64 2
  %lock = load ptr, ptr %lock.at
  br label %watch
watch:
  %turn = phi i64 [ %turns, %settle ], [ %turn.next, %pause ], [ %turn.next, %give.way ], [ %turns, %withdrawn ],
    [ %turns, %finish ], [ %turns, %woken ]
  %state = load atomic i64, ptr %word monotonic, align 8
  %asked = icmp ne i64 %state, 0
  br i1 %asked, label %accept, label %idle
accept:
  %begun = or i64 %state, 1
  %accepted = cmpxchg ptr %word, i64 %state, i64 %begun acq_rel monotonic, align 8
  %mine = extractvalue { i64, i1 } %accepted, 1
  br i1 %mine, label %finish, label %withdrawn
withdrawn:
  br label %watch
finish:
  %job = inttoptr i64 %state to ptr
  call void @team.take(ptr %job, i1 true)
  store atomic i64 0, ptr %word release, align 8
  br label %watch
idle:
  %patient = icmp sgt i64 %turn, 0
  br i1 %patient, label %pause, label %lie.down
${wait}lie.down:
  store atomic i64 1, ptr %asleep.at seq_cst, align 8
  %late = load atomic i64, ptr %word seq_cst, align 8
  %quiet = icmp eq i64 %late, 0
  br i1 %quiet, label %rest, label %rise
rise:
  %was = atomicrmw xchg ptr %asleep.at, i64 0 seq_cst
  %alone = icmp ne i64 %was, 0
  br i1 %alone, label %woken, label %rest
rest:
  %rested = call i32 %sleep(ptr %lock, i32 1)
  br label %woken
woken:
  br label %watch
leave:
  ret void
}

define void @team.pause(ptr %record, i64 %total) #0 {
entry:
${team}
  br label %watch
watch:
  %turn = phi i64 [ %total, %entry ], [ %turn.next, %pause ], [ %turn.next, %give.way ]
  %more = icmp sgt i64 %turn, 0
  br i1 %more, label %pause, label %done
${wait}done:
  ret void
}
"""


def module_text(triple: str) -> str:
    """Return the module for a target triple."""
    names = [name for name, _ in TEAM]
    pause, declaration = _PAUSE_INSTRUCTIONS.get(triple.split("-", 1)[0], ("", ""))
    parts = {
        "wait": fill_template(_SPIN_WAIT, {"pause": pause, "burst": _BURST - 1}),
        "share": load_fields("%share", SHARE),
        "team": load_fields("%record", TEAM, _CONSTANT_FIELDS),
        "job": store_fields("%job", _JOB),
        "job.fields": load_fields("%job", _JOB),
        "job.words": len(_JOB) + 1,
        "next": len(_JOB),
        "missed": names.index("missed"),
        "debt": names.index("debt"),
        "line": LINE_BYTES,
        "fraction": _PIECES_PER_THREAD,
        "most": _MAX_PIECE_RATIO,
        "burst": _BURST - 1,
        "scratch": SCRATCH,
    }
    declaration += SCRATCH_DECLARATIONS
    return fill_template(_CODE, parts) + declaration + "\n" + ATTRIBUTES
