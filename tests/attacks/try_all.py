import importlib,sys,tempfile,time,pkgutil
from pathlib import Path
from tests.attacks.ring import Ring
from tests.attacks.table import ATTACKS
import os
only=sys.argv[2:]
ring=Ring(Path(tempfile.mkdtemp(prefix="attacks-",dir="/tmp")),sys.argv[1].removesuffix("+"),contained=sys.argv[1].endswith("+"))
t00=time.time()
try:
    for a in ATTACKS:
        if only and not any(o in a.name for o in only): continue
        t=time.time(); r=ring.run(a)
        flag = "" if a.at_least<=r.get("points",0)<=a.at_most and r.get("ran", True)!=a.silent else "  <<<<<<"
        print(f"{a.name:28s} {time.time()-t:5.2f}s cpu {r.get('cpu',0):4.2f} +{r.get('growth',0)>>20}M {r.get('points')} ({a.at_least}-{a.at_most}) {r.get('kinds')} ran={r.get('ran')} {r['harms']}{flag}", flush=True)
        if flag: print("   told:", r.get("told","")[:600].replace("ATTACK RUNS\n",""), r.get("error",""))
finally:
    ring.close(); from grader.run.remove import remove_tree; remove_tree(ring.world.arena)
print(len(ATTACKS), time.time()-t00)
