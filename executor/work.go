package executor

// start hands an attempt whose intent is durable to a worker. There are as many as requests may
// be in flight: to be one is to have a place there. The intent of the next request is written
// ahead meanwhile, and the outcome of the last one behind it, so that the service is kept busy
// while the disk is.
func (o *order) start(j *job) {
	o.due <- j // there is room for all attempts
	if o.workers < o.inFlightMax() {
		o.workers++
		go o.work()
	}
}

// work makes requests, one after the other, until the run has ended. What an answer stops is
// stopped before the next request.
func (o *order) work() {
	for j := range o.due {
		may := o.c.mayTry(j)
		o.begin(j)
		if !may || o.c.try(j) {
			o.end(j)
		} else {
			go o.tryAgain(j)
		}
	}
}

// begin notes that an attempt is not ahead any more, once. The order hears of it where that
// makes room for a lot of intents.
func (o *order) begin(j *job) {
	if j.begun {
		return
	}
	j.begun = true
	if o.inFlightMax()-int(o.ahead.Add(-1)) == o.lotMin() {
		o.inbox.wake()
	}
}

// tryAgain waits, in nobody's place, until the next try of an attempt, or ends it.
func (o *order) tryAgain(j *job) {
	if o.c.mayRetry(j) {
		o.due <- j
	} else {
		o.end(j)
	}
}

// end judges an attempt by its last answer.
func (o *order) end(j *job) {
	j.verdict = o.c.judge(j, j.answer)
	o.c.afterAnswer(j.answer, j.verdict)
	o.inbox.post(func() {
		if o.c.run.Policy.InFlightMax > 1 { // one at a time is what it says
			o.attempts, o.writing = o.attempts-1, o.writing+1
		}
		o.answered = append(o.answered, j)
		o.record()
	})
}

// record writes the outcomes of what was answered, all of it at once. What is answered meanwhile
// is written next.
func (o *order) record() {
	if o.recording || len(o.answered) == 0 {
		return
	}
	lot := o.answered
	o.answered, o.recording = make([]*job, 0, cap(lot)), true
	go func() {
		findings := make([]finding, len(lot))
		for i, j := range lot {
			findings[i] = finding{verdict: j.verdict, settled: true}
		}
		o.c.writeFindings(findings)
		o.inbox.post(func() {
			o.recording = false
			for i, j := range lot {
				if o.c.run.Policy.InFlightMax > 1 {
					o.writing--
				} else {
					o.attempts--
				}
				o.settled(j.known, findings[i].verdict, j.planned)
			}
			o.record()
		})
	}()
}
