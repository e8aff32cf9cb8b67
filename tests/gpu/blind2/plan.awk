# plan.awk -v variant=faulty TIMES: groups of six cases of similar time, one on a line, as NAME:REPEATS.
# Repeats give the kernels of a group about the same total time, so that none falls outside the 90 % that are counted.
# bias_gelu has two kernels when faulty. kv_append, when faulty, is recorded alone: its cost is between its launches.
BEGIN { FS = "\t" }
$2 == variant && !(variant == "faulty" && $1 == "kv_append") {
  name[++n] = $1
  time[n] = $1 == "bias_gelu" && variant == "faulty" ? $3 / 2 : $3
}
END {
  for (i = 2; i <= n; ++i)
    for (j = i; j > 1 && time[j] > time[j - 1]; --j) {
      t = time[j]; time[j] = time[j - 1]; time[j - 1] = t
      t = name[j]; name[j] = name[j - 1]; name[j - 1] = t
    }
  groups = int((n + 5) / 6)
  for (g = 0; g < groups; ++g) {
    from = int(g * n / groups) + 1
    to = int((g + 1) * n / groups)
    line = ""
    for (i = from; i <= to; ++i) {
      repeats = int(4 * time[from] / (time[i] > 1 ? time[i] : 1) + 0.5)
      line = line (i > from ? " " : "") name[i] ":" (repeats > 400 ? 400 : repeats)
    }
    print line
  }
}
