//go:build unix

package main_test

import (
	"slices"
	"time"

	"remit/internal/approval"
	"remit/internal/proof/simulation/history"
	"remit/planner"
)

// approvingMutants send a plan that too few people signed, or whose time is over.
func approvingMutants() map[string]history.Client {
	return map[string]history.Client{
		"applies a plan that nobody approved": {Approve: func(approval.Case, history.View) bool { return true }},
		"lets the author approve": {Approve: func(c approval.Case, _ history.View) bool {
			c.AuthorKey = ""
			c.Need.Approvers--
			return isEnough(c)
		}},
		"counts a person twice who has two keys": {Approve: func(c approval.Case, _ history.View) bool {
			v := approval.Decide(c)
			count := len(v.Approvers)
			for _, d := range v.Discounted {
				if d.Why == approval.SamePerson {
					count++
				}
			}
			return count >= v.Needed()
		}},
		"counts a key that has expired": {Approve: func(c approval.Case, _ history.View) bool {
			c.Now = c.Now.AddDate(-100, 0, 0)
			return isEnough(c)
		}},
		"accepts an approval of other bytes than it sends": {Approve: func(c approval.Case, view history.View) bool {
			return slices.ContainsFunc(view.Signed(), func(plan []byte) bool {
				c.Plan = approval.NewDigest()
				_, _ = c.Plan.Write(plan) // it never fails
				return isEnough(c)
			})
		}},
		"applies a plan that has expired": {Header: func(h planner.Header) planner.Header {
			h.Expires = h.Expires.Add(100 * 365 * 24 * time.Hour)
			return h
		}},
	}
}

func isEnough(c approval.Case) bool {
	v := approval.Decide(c)
	return v.Enough()
}
