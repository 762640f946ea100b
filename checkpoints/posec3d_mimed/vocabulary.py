"""Which raw labels of which data set make up each class of the network's head."""

from __future__ import annotations

SOURCES: dict[str, tuple[tuple[str, str], ...]] = {
    "wave": (("utd", "wave"), ("msr", "high arm wave"), ("flo", "wave"), ("jhm", "wave")),
    "wave both hands": (("msr", "two hand wave"), ("utk", "waveHands")),
    "wave sideways": (("msr", "horizontal arm wave"),),
    "clap": (
        ("utd", "clap"),
        ("msr", "hand clap"),
        ("utk", "clapHands"),
        ("flo", "clap"),
        ("jhm", "clap"),
    ),
    "throw": (("utd", "throw"), ("msr", "high throw"), ("utk", "throw"), ("jhm", "throw")),
    "catch": (("utd", "catch"), ("msr", "hand catch"), ("jhm", "catch")),
    "draw x": (("utd", "draw x"), ("msr", "draw x")),
    "draw circle": (("utd", "draw circle cw"), ("utd", "draw circle ccw"), ("msr", "draw circle")),
    "draw triangle": (("utd", "draw triangle"),),
    "draw tick": (("msr", "draw tick"),),
    "swipe left": (("utd", "swipe left"),),
    "swipe right": (("utd", "swipe right"),),
    "cross arms": (("utd", "cross arms"),),
    "basketball shoot": (("utd", "basketball shoot"),),
    "bowling": (("utd", "bowling"),),
    "baseball swing": (("utd", "baseball swing"),),
    "tennis swing": (("utd", "tennis swing"), ("msr", "tennis swing")),
    "tennis serve": (("utd", "tennis serve"), ("msr", "tennis serve")),
    "golf swing": (("msr", "golf swing"), ("jhm", "golf")),
    "arm curl": (("utd", "arm curl"),),
    "push": (("utd", "push two hands"), ("utk", "push"), ("jhm", "push")),
    "pull": (("utk", "pull"),),
    "carry": (("utk", "carry"),),
    "knock": (("utd", "knock"),),
    "hammer": (("msr", "hammer"),),
    "punch": (("utd", "boxing"), ("msr", "forward punch"), ("msr", "side boxing")),
    "kick": (("msr", "forward kick"), ("msr", "side kick")),
    "pick up": (("utk", "pickUp"), ("jhm", "pick")),
    "pick up and throw": (("utd", "pick up and throw"), ("msr", "pick up and throw")),
    "bow": (("msr", "bend"), ("flo", "bow")),
    "tie lace": (("flo", "tie lace"),),
    "sit down": (("utd", "stand to sit"), ("utk", "sitDown"), ("flo", "sit down"), ("jhm", "sit")),
    "stand up": (
        ("utd", "sit to stand"),
        ("utk", "standUp"),
        ("flo", "stand up"),
        ("jhm", "stand"),
    ),
    "squat": (("utd", "squat"),),
    "lunge": (("utd", "lunge"),),
    "walk": (("utd", "walk in place"), ("utk", "walk"), ("jhm", "walk"), ("synthetic", "walk")),
    "run": (("utd", "jog in place"), ("msr", "jogging"), ("jhm", "run"), ("synthetic", "run")),
    "jump": (("jhm", "jump"), ("synthetic", "jump")),
    "jumping jack": (("synthetic", "jumping jack"),),
    "pull-up": (("jhm", "pullup"),),
    "pour": (("jhm", "pour"),),
    "drink": (("flo", "drink from a bottle"),),
    "answer phone": (("flo", "answer phone"),),
    "read watch": (("flo", "read watch"),),
}
"""Class -> (data set, raw label). Data sets: utd UTD-MHAD, msr MSR-Action3D, utk UTKinect, flo
Florence3D, jhm JHMDB."""

CLASSES: tuple[str, ...] = (*SOURCES, "none")
NONE = len(CLASSES) - 1
INDEX = {name: index for index, name in enumerate(CLASSES)}
OF_RAW = {raw: INDEX[name] for name, raws in SOURCES.items() for raw in raws}

JHMDB_CLASSES = tuple(
    sorted({INDEX[name] for name, raws in SOURCES.items() if any(d == "jhm" for d, _ in raws)})
)
"""The 14 head classes that JHMDB knows (its official task)."""

MIRROR = {INDEX["swipe left"]: INDEX["swipe right"], INDEX["swipe right"]: INDEX["swipe left"]}
"""Classes that change their name in the mirror."""
NO_MIRROR = frozenset({INDEX["draw tick"]})

PERIODIC = frozenset(
    INDEX[name]
    for name in (
        *(
            "wave",
            "wave both hands",
            "wave sideways",
            "clap",
            "walk",
            "run",
            "punch",
            "hammer",
            "knock",
            "carry",
        ),
        *("arm curl", "pull-up", "push", "pour", "squat", "draw circle", "jumping jack"),
    )
)
"""Actions that repeat: a part of them is still the action, and their pace tells them apart."""
