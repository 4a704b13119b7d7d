"""The rule-based extractor on documents of different style, each with the graph that a person would draw."""

from __future__ import annotations

import pytest
from drawn_graphs import graph_of_lines, same

from pytest_taskgraph.families.paged.extraction_rules.tree_builder import extract_graph
from pytest_taskgraph.notations.procedural_text import write_procedural_graph
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

RESTAURANT = (
    """
    How a restaurant looks after its guests

    For the guest:
    First, look for a free seat. If the guest wants food, select the favourite food and state the spice level. If the
    guest wants drinks, pick the drinks and state the size. Then hand over the order.

    For the restaurant:
    Check whether the kitchen can deliver. Checking whether the kitchen can deliver requires access to the menu of the
    day. If the kitchen is closed, send the guest away, and the procedure ends. Otherwise, cook the food and, at
    the same
    time, lay the table. Bring the food. Note that hot plates need a cloth.
    """,
    """
    Start -> guest: look for a free seat
    guest: look for a free seat -> OR1
    OR1 -> (the guest wants food) guest: select the favourite food
    guest: select the favourite food -> guest: state the spice level
    guest: state the spice level -> OR2
    OR1 -> (the guest wants drinks) guest: pick the drinks
    guest: pick the drinks -> guest: state the size
    guest: state the size -> OR2
    OR2 -> guest: hand over the order
    guest: hand over the order -> restaurant: check whether the kitchen can deliver
    data: menu of the day -> restaurant: check whether the kitchen can deliver
    restaurant: check whether the kitchen can deliver -> XOR1
    XOR1 -> (the kitchen is closed) restaurant: send the guest away
    restaurant: send the guest away -> End
    XOR1 -> (the kitchen is not closed) AND1
    AND1 -> restaurant: cook the food
    AND1 -> restaurant: lay the table
    restaurant: cook the food -> AND2
    restaurant: lay the table -> AND2
    AND2 -> restaurant: bring the food
    restaurant: bring the food -> notice: hot plates need a cloth
    restaurant: bring the food -> End
    """,
)
HOSPITAL = (
    """
    The nurse measures the pulse and writes it down. In the meantime, the doctor reads the file. When both are done, the
    doctor examines the patient. If surgery is required, the patient is transferred to the ward by the porter; otherwise
    the patient is discharged.
    """,
    """
    Start -> AND1
    AND1 -> nurse: measure the pulse
    nurse: measure the pulse -> nurse: write it down
    nurse: write it down -> AND2
    AND1 -> doctor: read the file
    doctor: read the file -> AND2
    AND2 -> doctor: examine the patient
    doctor: examine the patient -> XOR1
    XOR1 -> (surgery is required) porter: transfer the patient to the ward
    XOR1 -> (surgery is not required) discharge the patient
    porter: transfer the patient to the ward -> XOR2
    discharge the patient -> XOR2
    XOR2 -> End
    """,
)
EGGS = (
    """
    1. Whisk the eggs.
    2. While whisking the eggs, heat the pan.
    3. Pour the eggs into the pan and stir the salt and pepper in.
    4. In case the eggs stick, add butter. Be careful not to burn it.
    5. Serve with bread.
    """,
    """
    Start -> AND1
    AND1 -> whisk the eggs
    AND1 -> heat the pan
    whisk the eggs -> AND2
    heat the pan -> AND2
    AND2 -> pour the eggs into the pan
    pour the eggs into the pan -> stir the salt and pepper in
    stir the salt and pepper in -> XOR1
    XOR1 -> (the eggs stick) add butter
    add butter -> notice: not to burn it
    add butter -> XOR2
    XOR1 -> XOR2
    XOR2 -> serve with bread
    serve with bread -> End
    """,
)
LOAN = (
    """
    A customer submits a loan request. The request is registered by the clerk. After registering the request, the clerk
    checks the income of the customer. In case of a positive result, the manager approves the loan. In case of a
    negative
    result, the manager rejects the loan. In both cases, the clerk informs the customer. The process is then complete.
    """,
    """
    Start -> customer: submit a loan request
    customer: submit a loan request -> clerk: register the request
    clerk: register the request -> clerk: check the income of the customer
    clerk: check the income of the customer -> XOR1
    XOR1 -> (a positive result) manager: approve the loan
    XOR1 -> (a negative result) manager: reject the loan
    manager: approve the loan -> XOR2
    manager: reject the loan -> XOR2
    XOR2 -> clerk: inform the customer
    clerk: inform the customer -> End
    """,
)
LIBRARY = (
    """
    To borrow a book, search the catalogue. Unless the book is available, reserve the book and wait for a message. When
    the book is available, fetch it from the shelf. Finally, either scan the book or ask the librarian for help.
    """,
    """
    Start -> search the catalogue
    search the catalogue -> XOR1
    XOR1 -> (the book is not available) reserve the book
    reserve the book -> wait for a message
    XOR1 -> (the book is available) fetch it from the shelf
    wait for a message -> XOR2
    fetch it from the shelf -> XOR2
    XOR2 -> XOR3
    XOR3 -> scan the book
    XOR3 -> ask the librarian for help
    scan the book -> XOR4
    ask the librarian for help -> XOR4
    XOR4 -> End
    """,
)
APPLICATION = (
    """
    Do one or more of the following:
    - pay the fee
    - sign the form
    - upload a photo
    Afterwards, submit the application, which produces a receipt.
    """,
    """
    Start -> OR1
    OR1 -> pay the fee
    OR1 -> sign the form
    OR1 -> upload a photo
    pay the fee -> OR2
    sign the form -> OR2
    upload a photo -> OR2
    OR2 -> submit the application
    submit the application -> data: receipt
    submit the application -> End
    """,
)
TICKET = (  # fragments in the order of a breadth-first walk, which repeat actions
    """
    In the beginning, open the ticket. Open the ticket, then read the log. Read the log, at the same time, call the
    user,
    meanwhile, save a backup. Classify the fault. If the fault is minor, then fix the fault. If the fault is major, then
    escalate the ticket. Escalate the ticket, then inform the manager. Close the ticket. "Close the ticket" produces "a
    report". Close the ticket, and the procedure ends.
    """,
    """
    Start -> open the ticket
    open the ticket -> AND1
    AND1 -> read the log
    AND1 -> call the user
    AND1 -> save a backup
    read the log -> AND2
    call the user -> AND2
    save a backup -> AND2
    AND2 -> classify the fault
    classify the fault -> XOR1
    XOR1 -> (the fault is minor) fix the fault
    XOR1 -> (the fault is major) escalate the ticket
    escalate the ticket -> inform the manager
    fix the fault -> XOR2
    inform the manager -> XOR2
    XOR2 -> close the ticket
    close the ticket -> data: report
    close the ticket -> End
    """,
)
DRAFT = (
    """
    The editor checks the draft. If the draft has errors, the author corrects the draft and the editor checks the draft
    again. Otherwise, the editor publishes the draft.
    """,
    """
    Start -> editor: check the draft
    editor: check the draft -> XOR1
    XOR1 -> (the draft has errors) author: correct the draft
    author: correct the draft -> editor: check the draft
    XOR1 -> (the draft does not have errors) editor: publish the draft
    editor: publish the draft -> End
    """,
)
PARCEL = (
    """
    The parcel must be weighed, labelled and sealed before the clerk hands it to the driver. You need a scale to weigh
    the parcel. The driver delivers it.
    """,
    """
    Start -> weigh the parcel
    data: scale -> weigh the parcel
    weigh the parcel -> label the parcel
    label the parcel -> seal the parcel
    seal the parcel -> clerk: hand it to the driver
    clerk: hand it to the driver -> driver: deliver it
    driver: deliver it -> End
    """,
)
LEAK = (  # a choice within a branch
    """
    If the sensor reports a leak, close the valve. If the pressure does not drop, call the fire brigade; if it drops,
    reopen the valve. If the sensor does not report a leak, log the value.
    """,
    """
    Start -> XOR1
    XOR1 -> (the sensor reports a leak) close the valve
    close the valve -> XOR2
    XOR2 -> (the pressure does not drop) call the fire brigade
    XOR2 -> (it drops) reopen the valve
    call the fire brigade -> XOR3
    reopen the valve -> XOR3
    XOR3 -> XOR4
    XOR1 -> (the sensor does not report a leak) log the value
    log the value -> XOR4
    XOR4 -> End
    """,
)
MOVE = (
    """
    First, on the one hand, Anna packs the books. In this part, she labels the boxes. On the other hand, Ben cleans the
    kitchen. Once both are finished, Anna hands over the keys if the landlord is present.
    """,
    """
    Start -> AND1
    AND1 -> Anna: pack the books
    Anna: pack the books -> Anna: label the boxes
    Anna: label the boxes -> AND2
    AND1 -> Ben: clean the kitchen
    Ben: clean the kitchen -> AND2
    AND2 -> XOR1
    XOR1 -> (the landlord is present) Anna: hand over the keys
    Anna: hand over the keys -> XOR2
    XOR1 -> XOR2
    XOR2 -> End
    """,
)
HOLIDAY = (  # a choice in a parallel branch; words that lead out of it one by one
    """
    The parents book the flights. Then, on the one hand, the father packs the suitcase. In this part, he labels it. At
    the same time, if the children are at school, the mother buys sunscreen. Otherwise, the children buy sunscreen. In
    either case, the mother locks the windows. When both are done, if the climate is tropical, the family visits a
    doctor. In addition, if the car is old, the father has the car checked. Once all that applies is done, the family
    departs. To depart produces a boarding pass.
    """,
    """
    Start -> parents: book the flights
    parents: book the flights -> AND1
    AND1 -> father: pack the suitcase
    father: pack the suitcase -> father: label it
    father: label it -> AND2
    AND1 -> XOR1
    XOR1 -> (the children are at school) mother: buy sunscreen
    XOR1 -> (the children are not at school) children: buy sunscreen
    mother: buy sunscreen -> XOR2
    children: buy sunscreen -> XOR2
    XOR2 -> mother: lock the windows
    mother: lock the windows -> AND2
    AND2 -> OR1
    OR1 -> (the climate is tropical) family: visit a doctor
    OR1 -> (the car is old) father: have the car checked
    family: visit a doctor -> OR2
    father: have the car checked -> OR2
    OR2 -> family: depart
    family: depart -> data: boarding pass
    family: depart -> End
    """,
)
BREADTH = (  # a breadth-first walk: what a branch goes on with is told after what follows the join
    """
    If the part is new, test the part. If the part is used, clean the part. Store the part. Clean the part, then oil the
    part. If the shelf is full, then nothing has to be done. If the shelf is not full, order more parts.
    """,
    """
    Start -> XOR1
    XOR1 -> (the part is new) test the part
    XOR1 -> (the part is used) clean the part
    clean the part -> oil the part
    test the part -> XOR2
    oil the part -> XOR2
    XOR2 -> store the part
    store the part -> XOR3
    XOR3 -> (the shelf is full) XOR4
    XOR3 -> (the shelf is not full) order more parts
    order more parts -> XOR4
    XOR4 -> End
    """,
)
PRACTICE = (
    """
    The process starts when a patient calls the practice. The receptionist asks for the name and looks up the record. If
    there is no record, she creates a new record. She then offers an appointment. The day before the appointment, the
    assistant reminds the patient by phone.
    """,
    """
    Start -> patient: call the practice
    patient: call the practice -> receptionist: ask for the name
    receptionist: ask for the name -> receptionist: look up the record
    receptionist: look up the record -> XOR1
    XOR1 -> (there is no record) receptionist: create a new record
    receptionist: create a new record -> XOR2
    XOR1 -> XOR2
    XOR2 -> receptionist: offer an appointment
    receptionist: offer an appointment -> assistant: remind the patient by phone
    assistant: remind the patient by phone -> End
    """,
)
RELEASE = (
    """
    ## Release checklist
    1. Create a release branch.
    2. Run the tests
    - If they fail, fix the bugs and run the tests again.
    - If they pass, write a summary.
    3. Tag the release and, in parallel, update the changelog.
    4. Publish the package. This requires access to the registry token.
    """,
    """
    Start -> create a release branch
    create a release branch -> run the tests
    run the tests -> XOR1
    XOR1 -> (they fail) fix the bugs
    fix the bugs -> run the tests
    XOR1 -> (they pass) write a summary
    write a summary -> AND1
    AND1 -> tag the release
    AND1 -> update the changelog
    tag the release -> AND2
    update the changelog -> AND2
    AND2 -> publish the package
    data: registry token -> publish the package
    publish the package -> End
    """,
)
TREE = (
    """
    Planting a tree
    Dig a hole that is twice as wide as the root ball. Remove the pot and loosen the roots. If the soil is poor, mix in
    compost. You may want to add mulch, but keep it away from the trunk.
    """,
    """
    Start -> dig a hole that is twice as wide as the root ball
    dig a hole that is twice as wide as the root ball -> remove the pot
    remove the pot -> loosen the roots
    loosen the roots -> XOR1
    XOR1 -> (the soil is poor) mix in compost
    mix in compost -> XOR2
    XOR1 -> XOR2
    XOR2 -> add mulch
    add mulch -> keep it away from the trunk
    keep it away from the trunk -> End
    """,
)
DOCUMENTS = {
    "restaurant": RESTAURANT,
    "hospital": HOSPITAL,
    "eggs": EGGS,
    "loan": LOAN,
    "library": LIBRARY,
    "application": APPLICATION,
    "ticket": TICKET,
    "draft": DRAFT,
    "parcel": PARCEL,
    "leak": LEAK,
    "move": MOVE,
    "holiday": HOLIDAY,
    "breadth": BREADTH,
    "practice": PRACTICE,
    "release": RELEASE,
    "tree": TREE,
}


def text_of(document: str) -> str:
    return "\n".join(line.strip() for line in document.strip().splitlines())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_extract_graph_finds_the_graph_of_a_person(name: str) -> None:
    document, graph = DOCUMENTS[name]
    graph_read = extract_graph(text_of(document))
    assert same(graph_read, graph_of_lines(graph)), write_procedural_graph(graph_read)


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        ("Pack it. Then ship it.", "Start -> pack it\npack it -> ship it\nship it -> End"),
        ("Pack it, then ship it and the procedure ends.", "Start -> pack it\npack it -> ship it\nship it -> End"),
        ("Before shipping it, weigh it.", "Start -> weigh it\nweigh it -> ship it\nship it -> End"),
        ("Ada packs it. She ships it.", "Start -> Ada: pack it\nAda: pack it -> Ada: ship it\nAda: ship it -> End"),
        ("It is packed by Ada.", "Start -> Ada: pack it\nAda: pack it -> End"),
        ("You have to julienne the list.", "Start -> julienne the list\njulienne the list -> End"),
        (
            "Julienne the carrots and leeks.",
            "Start -> julienne the carrots and leeks\njulienne the carrots and leeks -> End",
        ),
        (
            "Sign and send the form.",
            "Start -> sign the form\nsign the form -> send the form\nsend the form -> End",
        ),
        (
            "Weigh it and label it in parallel.",
            "Start -> AND1\nAND1 -> weigh it\nAND1 -> label it\nweigh it -> AND2\nlabel it -> AND2\nAND2 -> End",
        ),
        (
            "Weigh it and/or label it.",
            "Start -> OR1\nOR1 -> weigh it\nOR1 -> label it\nweigh it -> OR2\nlabel it -> OR2\nOR2 -> End",
        ),
        (
            "Check the form. If it is wrong, return to checking the form.",
            "Start -> check the form\ncheck the form -> XOR1\nXOR1 -> (it is wrong) check the form\nXOR1 -> End",
        ),
        (
            "Check the form. If it is late, stop the process.",
            "Start -> check the form\ncheck the form -> XOR1\nXOR1 -> (it is late) End\nXOR1 -> End",
        ),
        (
            "If it is hot, if it is dry, water the plant.",
            """Start -> XOR1
            XOR1 -> (it is hot) XOR2
            XOR2 -> (it is dry) water the plant
            water the plant -> XOR3
            XOR2 -> XOR3
            XOR3 -> XOR4
            XOR1 -> XOR4
            XOR4 -> End""",
        ),
    ],
)
def test_extract_graph_reads_single_cues(document: str, lines: str) -> None:
    graph_read = extract_graph(document)
    assert same(graph_read, graph_of_lines(lines)), write_procedural_graph(graph_read)


@pytest.mark.parametrize(
    ("first", "second", "gateway"),
    [
        ("the guest needs dishes", "the guest needs drinks", "OR"),
        ("the stock is low", "the stock is high", "XOR"),
        ("the guest pays by card", "the guest pays in cash", "XOR"),
        ("the form is complete", "the form is incomplete", "XOR"),
        ("it rains", "it does not rain", "XOR"),
        ("a coupon is attached", "the parcel is heavy", "OR"),
    ],
)
def test_extract_graph_takes_the_gateway_by_conflict(first: str, second: str, gateway: str) -> None:
    graph_read = extract_graph(f"If {first}, call Ada. If {second}, call Ben. Then ship it.")
    assert same(
        graph_read,
        graph_of_lines(f"""Start -> {gateway}1
        {gateway}1 -> ({first}) call Ada
        {gateway}1 -> ({second}) call Ben
        call Ada -> {gateway}2
        call Ben -> {gateway}2
        {gateway}2 -> ship it
        ship it -> End"""),
    )


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("Packing the order requires access to the packing list.", "data: packing list -> pack the order"),
        ("To pack the order, you need the packing list.", "data: packing list -> pack the order"),
        ("The packing list is required to pack the order.", "data: packing list -> pack the order"),
        ("“Pack the order” needs “packing list”.", "data: packing list -> pack the order"),
        ("Pack the order produces a receipt.", "pack the order -> data: receipt"),
        ("For pack the order, pay attention to that it is wet.", "pack the order -> notice: it is wet"),
        ("When packing the order, keep in mind that it is wet.", "pack the order -> notice: it is wet"),
        ("Please note that it is wet when packing the order.", "pack the order -> notice: it is wet"),
    ],
)
def test_extract_graph_attaches_constraints_by_name(sentence: str, line: str) -> None:
    graph_read = extract_graph(f"Pack the order. Ship the goods. {sentence}")
    assert set(graph_of_lines(line).flows) < set(graph_read.flows), write_procedural_graph(graph_read)


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("This requires the packing list.", "data: packing list -> ship the goods"),
        ("This produces a receipt.", "ship the goods -> data: receipt"),
        ("Warning: it is wet.", "ship the goods -> notice: it is wet"),
        ("Do not drop it.", "ship the goods -> notice: Do not drop it"),
    ],
)
def test_extract_graph_attaches_other_constraints_to_the_last_action(sentence: str, line: str) -> None:
    graph_read = extract_graph(f"Pack the order. Ship the goods. {sentence}")
    assert set(graph_of_lines(line).flows) < set(graph_read.flows), write_procedural_graph(graph_read)


@pytest.mark.parametrize(
    "document", ["", " \n", "...", "The order is large.", "For the clerk:", "Note that it is wet."]
)
def test_extract_graph_without_actions_is_empty(document: str) -> None:
    assert extract_graph(document) == ProceduralGraph()


def test_extract_graph_tells_actors_of_equal_actions_apart() -> None:
    graph_read = extract_graph("The clerk signs the form. The manager signs the form.")
    assert [node.actor for node in graph_read.nodes_of("action")] == ["clerk", "manager"]


def test_extract_graph_leaves_other_tongues_to_others() -> None:
    graph_read = extract_graph("Zuerst wird die Ware geprüft. 然后发货。")
    assert graph_read.nodes_of("exclusive", "inclusive", "parallel") == ()
